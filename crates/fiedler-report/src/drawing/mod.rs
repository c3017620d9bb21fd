//! Drawings of graphs: where nodes stand, and what a scheme would do to the edges.
