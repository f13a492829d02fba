"""Small workspaces for tests and benchmarks: a lawful house, faults to plant in it, wheels and installations of it."""

from seam.deplint.testing._faults import FAULTS, Fault
from seam.deplint.testing._house import House, Member, lawful_house
from seam.deplint.testing._wheels import install, record, wheel_files, write_wheel, write_wheels

__all__ = [
    "FAULTS",
    "Fault",
    "House",
    "Member",
    "install",
    "lawful_house",
    "record",
    "wheel_files",
    "write_wheel",
    "write_wheels",
]
