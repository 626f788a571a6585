//! The functions the prelude is given: the way to the host, and what is easier in Rust.

use std::{rc::Rc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rquickjs::{Ctx, Function, IntoJs as _, Object, Result, TypedArray, Value};
use url::{Url, form_urlencoded, quirks};

use super::{super::protocol::Reply, runtime::frames, state::State};

/// What a script reaches the host by.
pub(super) fn host<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let it = Rc::clone(state);
    // A number is the call's id, a string says why there is none.
    let start = move |ctx: Ctx<'js>, binding: usize, function: String, arguments: String| match it
        .call(binding, function, arguments)
    {
        Ok(id) => id.into_js(&ctx),
        Err(refusal) => refusal.into_js(&ctx),
    };
    object.set("start", Function::new(ctx.clone(), start)?)?;
    let it = Rc::clone(state);
    let ask = move |ctx: Ctx<'js>, binding: usize, function: String, arguments: String| match it
        .ask(binding, function, arguments)
    {
        Ok(reply) => answer(&ctx, reply),
        Err(refusal) => refusal.into_js(&ctx),
    };
    object.set("ask", Function::new(ctx.clone(), ask)?)?;
    let it = Rc::clone(state);
    let timer = move |id: u32, milliseconds: f64| {
        it.set_timer(id, Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default());
    };
    object.set("timer", Function::new(ctx.clone(), timer)?)?;
    let it = Rc::clone(state);
    object.set("clock", Function::new(ctx.clone(), move || it.clock_ms())?)?;
    let it = Rc::clone(state);
    object.set("log", Function::new(ctx.clone(), move |line: String| it.log(line))?)?;
    let it = Rc::clone(state);
    object.set("warn", Function::new(ctx.clone(), move |text: String| it.warn(text, None))?)?;
    Ok(object)
}

/// What placeholders report by: what the script looked at, and the stack it did so with.
pub(super) fn observe<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> Result<Function<'js>> {
    let it = Rc::clone(state);
    Function::new(ctx.clone(), move |what: String, stack: String| {
        it.observe(what, frames(&stack).into_iter().next());
    })
}

/// `{ json, bigIntegers }` or `{ name, message, properties }`.
fn answer<'js>(ctx: &Ctx<'js>, reply: Option<Reply>) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    match reply {
        Some(Reply::Value { json, big_integers }) => {
            object.set("json", json)?;
            object.set("bigIntegers", big_integers)?;
        }
        Some(Reply::Error { name, message, properties }) => {
            object.set("name", name)?;
            object.set("message", message)?;
            object.set("properties", properties)?;
        }
        // The run is being stopped; the interrupt handler has the last word.
        None => {
            object.set("name", "LimitError")?;
            object.set("message", "the run was stopped")?;
            object.set("properties", "{}")?;
        }
    }
    Ok(object.into_value())
}

/// What the polyfills stand on.
pub(super) fn native<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let encode = |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new(ctx, text);
    object.set("encodeUtf8", Function::new(ctx.clone(), encode)?)?;
    object.set("decodeUtf8", Function::new(ctx.clone(), decode_utf8)?)?;
    object.set("parseUrl", Function::new(ctx.clone(), parse_url)?)?;
    object.set("changeUrl", Function::new(ctx.clone(), change_url)?)?;
    let parse = |query: String| -> Vec<Vec<String>> {
        let pairs = form_urlencoded::parse(query.as_bytes());
        pairs.map(|(name, value)| vec![name.into_owned(), value.into_owned()]).collect()
    };
    object.set("parseQuery", Function::new(ctx.clone(), parse)?)?;
    let write = |pairs: Vec<Vec<String>>| -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for pair in &pairs {
            if let [name, value] = pair.as_slice() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    };
    object.set("writeQuery", Function::new(ctx.clone(), write)?)?;
    Ok(object)
}

/// The bytes come as base64: borrowing them from the engine would be unsafe.
fn decode_utf8(base64: String, fatal: bool) -> Option<String> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    if fatal {
        return std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
    }
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn parse_url<'js>(ctx: Ctx<'js>, url: String, base: Option<String>) -> Result<Option<Object<'js>>> {
    let base = match base.as_deref().map(Url::parse) {
        None => None,
        Some(Ok(base)) => Some(base),
        Some(Err(_)) => return Ok(None),
    };
    let Ok(url) = Url::options().base_url(base.as_ref()).parse(&url) else { return Ok(None) };
    parts(&ctx, &url).map(Some)
}

fn change_url<'js>(
    ctx: Ctx<'js>,
    href: String,
    part: String,
    value: String,
) -> Result<Option<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    let changed = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).is_ok(),
        "protocol" => quirks::set_protocol(&mut url, &value).is_ok(),
        "username" => quirks::set_username(&mut url, &value).is_ok(),
        "password" => quirks::set_password(&mut url, &value).is_ok(),
        "host" => quirks::set_host(&mut url, &value).is_ok(),
        "hostname" => quirks::set_hostname(&mut url, &value).is_ok(),
        "port" => quirks::set_port(&mut url, &value).is_ok(),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            true
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            true
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            true
        }
        _ => false,
    };
    if changed { parts(&ctx, &url).map(Some) } else { Ok(None) }
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("href", quirks::href(url))?;
    object.set("origin", quirks::origin(url))?;
    object.set("protocol", quirks::protocol(url))?;
    object.set("username", quirks::username(url))?;
    object.set("password", quirks::password(url))?;
    object.set("host", quirks::host(url))?;
    object.set("hostname", quirks::hostname(url))?;
    object.set("port", quirks::port(url))?;
    object.set("pathname", quirks::pathname(url))?;
    object.set("search", quirks::search(url))?;
    object.set("hash", quirks::hash(url))?;
    Ok(object)
}
