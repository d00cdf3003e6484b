"""Checks the links of HTML pages: each leads to a file, and to a heading of it; nothing is fetched from other computers."""
import html.parser
import urllib.parse


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.fetched, self.anchors = [], [], set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        for name in ("src", "href"):
            if values.get(name) and tag in ("script", "link", "img", "iframe"):
                self.fetched.append(values[name])


def parse(path):
    links = Links()
    links.feed(path.read_text(errors="replace"))
    return links


def problems(output):
    """What is wrong with the links of a folder of pages, and the number of pages."""
    pages = {path: parse(path) for path in sorted(output.rglob("*.html"))}
    found_problems = []
    for path, found in pages.items():
        if path.name == "404.html":  # its links begin with /
            continue
        where = path.relative_to(output)
        for link in found.fetched + found.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.fetched:
                    found_problems.append(f"{where}: fetches {link}")
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found_problems.append(f"{where}: {link} is not there")
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                found_problems.append(f"{where}: {link}: the page has no such heading")
    return found_problems, len(pages)
