//! Settings as the first version of our files had them, brought to what they are today.
//!
//! Keys were in kebab-case, tags were called `scheme` or `kind`, and some keys had other names.

use serde_json::{Map, Value};

/// The settings of a scheme.
pub fn upgrade_scheme(value: &mut Value) {
    let Value::Object(settings) = value else { return };
    rename(settings, "scheme", "name");
    rename(settings, "eigenvalues", "k");
    for key in ["step-size", "step-size-down"] {
        if let Some(Value::Object(size)) = settings.get_mut(key)
            && size.len() == 1
            && let Some((name, number)) = size.iter().next().map(|(name, number)| (name.clone(), number.clone()))
        {
            *size = Map::from_iter([("name".to_owned(), name.into()), ("value".to_owned(), number)]);
        }
    }
    if let Some(Value::Object(kernel)) = settings.get_mut("kernel")
        && kernel.len() == 1
        && let Some((name, Value::Object(inner))) =
            kernel.iter().next().map(|(name, inner)| (name.clone(), inner.clone()))
    {
        *kernel = inner;
        kernel.insert("name".to_owned(), name.into());
    }
    snake_case_keys(value);
}

/// The feature masking of two views.
pub fn upgrade_masking(value: &mut Value) {
    let Value::Object(masking) = value else { return };
    for view in ["first", "second"] {
        if let Some(Value::Object(rates)) = masking.get_mut(view) {
            rename(rates, "columns", "rate");
        }
    }
    snake_case_keys(value);
}

/// Gives a key another name, unless there is something of that name already.
pub fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if !object.contains_key(to)
        && let Some(value) = object.remove(from)
    {
        object.insert(to.to_owned(), value);
    }
}

/// Every key with `_` where it had `-`.
pub fn snake_case_keys(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let entries = std::mem::take(object).into_iter().map(|(key, mut value)| {
                snake_case_keys(&mut value);
                (key.replace('-', "_"), value)
            });
            *object = entries.collect();
        }
        Value::Array(values) => values.iter_mut().for_each(snake_case_keys),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::SchemeSettings;

    #[test]
    fn schemes_of_the_first_version_are_understood() {
        let mut old = json!({"scheme": "opposite", "eigenvalues": 5, "step-size": {"largest-change": 0.25}, "step-size-down": {"rate": 3.0}});
        upgrade_scheme(&mut old);
        let SchemeSettings::Opposite(settings) = serde_json::from_value(old).unwrap() else { panic!("another scheme") };
        assert_eq!(settings.k, Some(5));
        assert_eq!(settings.step_size, crate::ascent::StepSize::LargestChange(0.25));
        let mut old = json!({"scheme": "diffusion", "kernel": {"heat": {"time": 2.0}}, "neighbors": 8});
        upgrade_scheme(&mut old);
        let SchemeSettings::Diffusion(settings) = serde_json::from_value(old).unwrap() else {
            panic!("another scheme")
        };
        assert_eq!(settings.kernel, fiedler_spectral::properties::Diffusion::Heat { time: 2.0 });
    }

    #[test]
    fn todays_settings_stay_as_they_are() {
        for (name, _) in SchemeSettings::ALL {
            let settings: SchemeSettings = name.parse().unwrap();
            let value = serde_json::to_value(&settings).unwrap();
            let mut upgraded = value.clone();
            upgrade_scheme(&mut upgraded);
            assert_eq!(upgraded, value, "{name}");
        }
    }
}
