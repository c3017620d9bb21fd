"""Runs the program for the comparisons beside this file."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build():
    """The path of the program, built with optimisation, together with the examples that comparisons need: built by themselves they
    would ask for other features of the same libraries."""
    packages = ["-p", "fiedler-cli", "-p", "fiedler-learn", "-p", "fiedler-io", "--bin", "fiedler"]
    packages += ["--example", "epoch", "--example", "grace", "--example", "read_molecules"]
    subprocess.run(["cargo", "build", "--release", "--quiet", *packages], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "fiedler"


def fiedler(*arguments, threads=None):
    """What the program prints, read as JSON where it was asked for."""
    command = [str(ROOT / "target" / "release" / "fiedler"), *map(str, arguments), "--quiet"]
    if threads:
        command += ["--threads", str(threads)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout
    return json.loads(printed) if "--json" in arguments else printed


def views(scheme):
    """The views of a scheme by their names, from what `fiedler augment --json` prints."""
    return {view["name"]: view for view in scheme["views"]}
