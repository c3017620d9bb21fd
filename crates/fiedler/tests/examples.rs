//! The examples run, and do what they say.

#[path = "../examples/augment.rs"]
mod augment;
#[path = "../examples/embed.rs"]
mod embed;
#[path = "../examples/own_method.rs"]
mod own_method;
#[path = "../examples/own_scheme.rs"]
mod own_scheme;

#[test]
fn a_scheme_and_its_views() {
    augment::main().expect("the example runs");
}

#[test]
fn embeddings_of_a_graph() {
    embed::main().expect("the example runs");
}

#[test]
fn a_method_from_outside_is_trained_by_the_trainer() {
    own_method::main().expect("the example runs");
}

#[test]
fn a_scheme_from_outside_trains_the_papers_method() {
    own_scheme::main().expect("the example runs");
}
