"""The wheel holds a library for one platform, which every Python can open."""

import platform

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class LibraryWheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        libc, version = platform.libc_ver()
        major, minor = version.split(".")[:2]
        here = f"manylinux_{major}_{minor}_{platform.machine()}" if libc == "glibc" else super().get_tag()[2]
        return "py3", "none", here


setup(cmdclass={"bdist_wheel": LibraryWheel})
