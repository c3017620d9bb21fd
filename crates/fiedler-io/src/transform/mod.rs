//! Datasets made of other datasets, by a line of text: `ego:cora,hops=2` wherever data are named. One file a transform.
//!
//! A line is the name of one of [`TRANSFORMS`], a colon, the data, and after commas the parameters that are not to have their defaults. The data
//! may be a path, a name, a generator or another transform: parameters are taken from the right for as long as they are those of the
//! transform and each is met once, so that `sample:without:moses,of=ogbg-molbbbp,n=50000` is a sample of what `without` leaves.
//!
//! To add a transform: write `transform/NAME.rs` with a constant [`Transform`], and list it in [`TRANSFORMS`].

mod degrees;
mod ego;
mod sample;
mod scaffold;
mod without;

use fiedler_graph::Dataset;
use fiedler_graph::generate::Parameter;

use crate::error::{Error, Result};
use crate::read::ReadOptions;

pub use sample::RowSample;

/// A way to make a dataset of another.
#[derive(Debug, Clone, Copy)]
pub struct Transform {
    /// Its name.
    pub name: &'static str,
    /// What it makes, in one line of help.
    pub about: &'static str,
    /// A line with all its parameters at their defaults, or with an example of those that have none.
    pub usage: &'static str,
    /// Its parameters, `seed` among them where it draws.
    pub parameters: &'static [Parameter],
    apply: fn(&Arguments<'_>) -> Result<Dataset>,
}

/// Every transform.
pub const TRANSFORMS: &[Transform] =
    &[sample::TRANSFORM, without::TRANSFORM, scaffold::TRANSFORM, ego::TRANSFORM, degrees::TRANSFORM];

/// A line that has a name of its own.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The name.
    pub name: &'static str,
    /// The line that it stands for.
    pub line: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
}

/// Lines that have a name of their own.
pub const NAMED: &[Named] = &[Named {
    name: "moses-50k",
    line: "sample:moses,n=50000,seed=0",
    title: "50,000 molecules drawn from MOSES, for pre-training",
}];

/// Transforms within each other at most.
const MAX_DEPTH: usize = 8;

/// What a transform is applied to.
struct Arguments<'a> {
    data: &'a str,
    given: Vec<(&'static str, &'a str)>,
    options: &'a ReadOptions,
    seed: u64,
}

/// The line that a name of [`NAMED`] stands for; case and the kind of hyphens do not matter.
pub(crate) fn named(data: &str) -> Option<&'static Named> {
    let plain = data.to_ascii_lowercase().replace('_', "-");
    NAMED.iter().find(|named| named.name == plain)
}

/// The transform that a line names, and what stands behind the colon.
pub(crate) fn find(line: &str) -> Option<(&'static Transform, &str)> {
    let (name, rest) = line.split_once(':')?;
    TRANSFORMS.iter().find(|transform| transform.name == name.trim()).map(|transform| (transform, rest))
}

impl Transform {
    /// Makes the dataset that a line describes; `rest` is what stands behind the colon.
    pub(crate) fn open(&'static self, rest: &str, options: &ReadOptions, seed: u64) -> Result<Dataset> {
        if options.stream_features {
            let expected = "none for a transform, which makes other graphs: convert what comes of it";
            return Err(Error::setting("stream_features", "asked for", expected));
        }
        let (data, given) = self.parse(rest)?;
        let mut depth = data;
        for _ in 0..MAX_DEPTH {
            match find(depth) {
                Some((_, inner)) => depth = inner,
                None => return (self.apply)(&Arguments { data, given, options, seed }),
            }
        }
        Err(Error::setting("number of transforms within each other", format!("more than {MAX_DEPTH}"), "fewer"))
    }

    /// The data, and the parameters behind them.
    fn parse<'a>(&'static self, rest: &'a str) -> Result<(&'a str, Vec<(&'static str, &'a str)>)> {
        let mut data = rest.trim();
        let mut given: Vec<(&'static str, &str)> = Vec::new();
        while let Some((before, last)) = data.rsplit_once(',') {
            let Some((key, value)) = last.split_once('=') else {
                if last.trim().is_empty() {
                    data = before.trim_end();
                    continue;
                }
                break;
            };
            let Some(known) = self.parameters.iter().find(|parameter| parameter.name == key.trim()) else {
                // It may be the parameter of a generator or of another transform within; names have none.
                if before.contains(':') || std::path::Path::new(data).exists() {
                    break;
                }
                let known = self.parameters.iter().map(|parameter| parameter.name);
                return Err(Error::unknown_name(format!("parameter of {}", self.name), key.trim(), known));
            };
            if given.iter().any(|(other, _)| *other == known.name) {
                if before.contains(':') {
                    break;
                }
                return Err(Error::setting(known.name, value.trim(), "each parameter at most once"));
            }
            given.push((known.name, value.trim()));
            data = before.trim_end();
        }
        if data.is_empty() || data.contains('=') && !data.contains([':', '/', '\\']) && !data.contains('.') {
            return Err(Error::setting(format!("data of {}", self.name), format!("{rest:?}"), self.usage));
        }
        Ok((data, given))
    }
}

impl Arguments<'_> {
    /// Opens what the transform is of. `options` may be other than those given.
    fn open_with(&self, data: &str, options: &ReadOptions) -> Result<Dataset> {
        crate::open(data, options, self.seed)
    }

    /// Opens what the transform is of, all of it.
    fn open(&self) -> Result<Dataset> {
        self.open_with(self.data, &self.whole_options())
    }

    /// The options without a sample, which is meant for what comes of the transform.
    fn whole_options(&self) -> ReadOptions {
        ReadOptions { sample: None, ..self.options.clone() }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn whole(&self, name: &str, default: usize) -> Result<usize> {
        self.text(name).map_or(Ok(default), |text| whole(name, text))
    }

    /// A whole number, or `None` where the text is `none` or not there.
    fn whole_or_none(&self, name: &str) -> Result<Option<usize>> {
        self.text(name).filter(|text| *text != "none").map(|text| whole(name, text)).transpose()
    }

    fn real(&self, name: &str, default: f64) -> Result<f64> {
        let parse = |text: &str| text.parse().map_err(|_| Error::setting(name, format!("{text:?}"), "a number"));
        self.text(name).map_or(Ok(default), parse)
    }

    /// The seed of the line, or else of whoever opens it.
    fn seed(&self) -> Result<u64> {
        self.text("seed").map_or(Ok(self.seed), |text| {
            text.parse().map_err(|_| Error::setting("seed", format!("{text:?}"), "a whole number"))
        })
    }
}

fn whole(name: &str, text: &str) -> Result<usize> {
    text.replace('_', "")
        .parse()
        .map_err(|_| Error::setting(name, format!("{text:?}"), "a whole number that is not negative"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parameters_are_taken_from_the_right() {
        let parse = |line: &'static str| {
            let (transform, rest) = find(line).unwrap();
            transform.parse(rest).map(|(data, given)| (data, given.into_iter().rev().collect::<Vec<_>>()))
        };
        assert_eq!(parse("ego:cora,hops=1,cap=9").unwrap(), ("cora", vec![("hops", "1"), ("cap", "9")]));
        assert_eq!(parse("ego: cora , hops = 1,").unwrap(), ("cora", vec![("hops", "1")]));
        let nested = "sample:without:moses,of=a+b,n=5,seed=1";
        assert_eq!(parse(nested).unwrap(), ("without:moses,of=a+b", vec![("n", "5"), ("seed", "1")]));
        let generated = "ego:sbm:nodes=50,classes=2,count=4";
        assert_eq!(parse(generated).unwrap(), ("sbm:nodes=50,classes=2", vec![("count", "4")]));
        assert_eq!(parse("ego:sbm:nodes=50,seed=2,seed=4").unwrap(), ("sbm:nodes=50,seed=2", vec![("seed", "4")]));
        assert_eq!(parse("ego:a,b/c.csv,hops=1").unwrap().0, "a,b/c.csv");

        let refusals = [
            ("ego:cora,hop=1", "no parameter of ego is called \"hop\""),
            ("ego:cora,hops=1,hops=2", "each parameter at most once"),
            ("ego:hops=1", "data of ego is"),
            ("ego:", "data of ego is"),
        ];
        for (line, expected) in refusals {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn names_are_their_own() {
        for Named { name, line, .. } in NAMED {
            assert!(crate::catalogue::find(name).is_err(), "{name}");
            assert!(find(line).is_some() && named(&name.to_uppercase()).is_some(), "{line}");
        }
        for transform in TRANSFORMS {
            assert!(!fiedler_graph::generate::SPECS.iter().any(|spec| spec.name == transform.name));
            let (again, rest) = find(transform.usage).unwrap();
            assert_eq!(again.name, transform.name);
            again.parse(rest).unwrap();
        }
    }

    #[test]
    fn depth_is_bounded() {
        let line = format!("{}karate", "degrees:".repeat(10_000));
        let error = crate::open(&line, &ReadOptions::default(), 0).unwrap_err().to_string();
        assert!(error.contains("within each other"), "{error}");
    }
}
