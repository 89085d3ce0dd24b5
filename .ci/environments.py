"""Environments of Python with packages of others, and the newest releases of packages that are pinned.

  environments.py install FOLDER ARGUMENT…   makes an environment by `uv pip install ARGUMENT…`, if it has not been made so before
  environments.py newest TABLE SPEC…         prints each pinned package with its newest release in place of the pinned one, a line
                                             each, and writes both into the file TABLE

A spec is NAME==VERSION, or NAME@VERSION for a package of npm."""

import json
import pathlib
import shutil
import subprocess
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent / "target"
# pip takes 164 seconds for what uv installs in ten.
INSTALLER = "uv==0.13.9"


def installer():
    """The program that installs, itself installed once."""
    folder = TARGET / INSTALLER
    program = folder / "bin/uv"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", INSTALLER], check=True)
    return program


def install(folder, *arguments):
    """Makes an environment, unless it has been made with the same arguments; returns its Python."""
    python, mark = folder / "bin/python", folder / "installed.json"
    wanted = json.dumps([INSTALLER, *arguments])
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([installer(), "venv", "--quiet", "--python", sys.executable, folder], check=True)
        # Else the first to import would compile, within the time that it has.
        subprocess.run([installer(), "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *arguments], check=True)
        mark.write_text(wanted)
    return python


def parts(spec):
    """The name of a package, what stands before its version, and the version."""
    return spec.rpartition("==" if "==" in spec else "@")


def newest(pinned):
    """Each spec with the spec of its package's newest release that is no preview."""
    names, mark = [parts(spec)[0] for spec in pinned], parts(pinned[0])[1]
    versions = newest_of_pip(names) if mark == "==" else [printed("npm", "view", name, "version").strip() for name in names]
    return {spec: f"{name}{mark}{version}" for spec, name, version in zip(pinned, names, versions)}


def newest_of_pip(names):
    # Without dependencies: no package holds another one back.
    flags = ["--no-deps", "--no-strip-extras", "--no-header", "--no-annotate", "--quiet", "--python", sys.executable]
    told = printed(installer(), "pip", "compile", *flags, "-", text="\n".join(names)).replace(" ", "")
    found = dict(line.split("==") for line in told.splitlines())
    return [found[name] for name in names]


def printed(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def table(releases):
    """The pinned and the newest version of each package; those that differ come last."""
    rows = [("package", "pinned", "newest", "")]
    for spec, release in sorted(releases.items(), key=lambda row: row[0] != row[1]):
        name, _, version = parts(spec)
        rows.append((name, version, parts(release)[2], "" if spec == release else "differs"))
    widths = [max(map(len, column)) + 2 for column in zip(*rows)]
    return "\n".join("".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def main(command, path, *arguments):
    if command == "install":
        install(pathlib.Path(path), *arguments)
    else:
        releases = newest(arguments)
        pathlib.Path(path).write_text(table(releases) + "\n")
        print(*releases.values(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
