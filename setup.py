"""Builds tamis._core with CMake, the library linked into it. Everything else about the package is in pyproject.toml.

The environment variable CMAKE_ARGS holds more options for CMake, as other packages that are built with it have them.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        # CMake puts _core into the folder tamis of this one.
        package_root = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve().parent.parent
        build = pathlib.Path(self.build_temp).resolve()
        # -s: what a debugger would need makes the module three times as large.
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_MODULE_LINKER_FLAGS=-s", *pybind11_folder(),
                        "-DTAMIS_BUILD_PYTHON=ON", "-DTAMIS_BUILD_APPS=OFF", "-DTAMIS_BUILD_TESTS=OFF",
                        "-DTAMIS_WARNINGS_AS_ERRORS=OFF",
                        f"-DTAMIS_PYTHON_DIR={package_root}", f"-DPython3_EXECUTABLE={sys.executable}",
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "tamis_python"], check=True)


def pybind11_folder():
    """Where pip put pybind11, if it did: CMake finds only the one of the system."""
    try:
        import pybind11
    except ImportError:
        return []
    return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]


def version():
    """CMakeLists.txt is the only place of the version number."""
    return re.search(r"^project\(tamis VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE).group(1)


setup(version=version(), ext_modules=[Extension("tamis._core", [])], cmdclass={"build_ext": CMakeBuild})
