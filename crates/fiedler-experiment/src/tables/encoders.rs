//! One encoder for all methods of a table.

use fiedler_learn::encoder::{EncoderSettings, GinSettings};
use fiedler_learn::method::MethodSettings;
use fiedler_learn::ops::Pooling;
use fiedler_learn::readout::{JumpingKnowledge, ReadoutSettings};

/// The same method with another encoder, where it can have it; MVGRL sees diffusions, which graph isomorphism layers cannot pass by.
pub fn with_gin(method: &mut MethodSettings, encoder: &GinSettings) {
    let gin = EncoderSettings::Gin(encoder.clone());
    match method {
        MethodSettings::InfoGraph(method) => method.encoder = gin,
        MethodSettings::GraphCl(method) => method.encoder = gin,
        MethodSettings::Joao(method) => method.0.encoder = gin,
        MethodSettings::AdGcl(method) => method.encoder = gin,
        MethodSettings::GraphMae(method) => method.encoder = gin,
        MethodSettings::SimGrace(method) => method.encoder = gin,
        MethodSettings::Supervised(method) => method.encoder = gin,
        MethodSettings::Span(method) => method.encoder = gin,
        _ => {}
    }
}

/// Graphs are the mean of their nodes after the last layer, in methods that pool them.
pub fn with_mean(method: &mut MethodSettings) {
    let last = JumpingKnowledge::Last;
    let readout = match method {
        MethodSettings::InfoGraph(method) => &mut method.readout,
        MethodSettings::GraphCl(method) => &mut method.readout,
        MethodSettings::Joao(method) => &mut method.0.readout,
        MethodSettings::AdGcl(method) => &mut method.readout,
        MethodSettings::GraphMae(method) => &mut method.readout,
        MethodSettings::SimGrace(method) => &mut method.readout,
        MethodSettings::Supervised(method) => return mean(&mut method.readout),
        MethodSettings::Span(method) => return mean(&mut method.readout),
        _ => return,
    };
    (readout.pooling, readout.jumping_knowledge) = (Pooling::Mean, last);
}

fn mean(readout: &mut ReadoutSettings) {
    (readout.pooling, readout.jumping_knowledge) = (Pooling::Mean, JumpingKnowledge::Last);
}
