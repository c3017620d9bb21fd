//! Every dataset of the paper by name: where it is published, and where it lies on this machine.
