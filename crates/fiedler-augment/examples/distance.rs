//! Times schemes that move a spectrum: `distance GRAPH METHOD STEPS SCHEME...`, where a method is auto, exact, chebyshev or
//! probes, and a scheme single, double, dropping, opposite, or opposite:K for the K outermost eigenvalues.
//!
//! Prints one line of JSON a scheme: seconds, seconds of all threads, the distance or norm reached relative to the norm before,
//! and the bytes of its file.

use std::error::Error;
use std::time::Instant;

use fiedler_augment::scheme::{NodeDropping, SchemeSettings, Spectral};
use fiedler_augment::transport::SpectrumMethod;
use fiedler_graph::NoObserver;
use fiedler_io::{ReadOptions, catalogue};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, method, steps, schemes @ ..] = arguments.as_slice() else {
        return Err("usage: distance GRAPH METHOD STEPS SCHEME...".into());
    };
    let all = [SpectrumMethod::Auto, SpectrumMethod::Exact, SpectrumMethod::Chebyshev, SpectrumMethod::Probes];
    let spectra = all.into_iter().find(|known| known.name() == method).ok_or("an unknown method")?;
    let steps = steps.parse()?;
    let data = catalogue::open(name, &ReadOptions::default())?;
    for scheme in schemes {
        let (kind, k) = match scheme.split_once(':') {
            Some((kind, k)) => (kind, Some(k.parse()?)),
            None => (scheme.as_str(), None),
        };
        let spectral = Spectral { spectra, steps, k, ..Spectral::default() };
        let settings = match kind {
            "single" => SchemeSettings::Single(spectral),
            "double" => SchemeSettings::Double(spectral),
            "opposite" => SchemeSettings::Opposite(spectral),
            "dropping" => SchemeSettings::NodeDropping(NodeDropping { spectra, steps, k, ..NodeDropping::default() }),
            _ => return Err(format!("no scheme {scheme}").into()),
        };
        let (began, work) = (Instant::now(), processor_seconds());
        let computed = settings.compute(&data.graphs, &NoObserver)?;
        let (seconds, work) = (began.elapsed().as_secs_f64(), processor_seconds() - work);
        let norm = computed.report().views[0].norm.ok_or("a scheme without a norm")?;
        println!(
            "{{\"scheme\":\"{scheme}\",\"seconds\":{seconds:.2},\"processor_seconds\":{work:.2},\"distance\":{:.5},\
             \"relative_norm\":{:.5},\"file_bytes\":{},\"notes\":{:?}}}",
            norm.distance.unwrap_or(0.0),
            norm.relative(),
            computed.to_bytes()?.len(),
            computed.report().notes.join("; "),
        );
    }
    Ok(())
}

/// Seconds all threads of this process have worked, where the system tells.
fn processor_seconds() -> f64 {
    let read = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some(ticks / 100.0)
    };
    read().unwrap_or(f64::NAN)
}
