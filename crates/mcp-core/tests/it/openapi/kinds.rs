//! Every kind of document of the specification's survey, by its number there: the real document where
//! it can be had, else a small one of our own that has what made that one special.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_core::openapi::{Depth, Document, signature};

use super::{corpus, read};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi/kinds");

/// One document of the survey.
enum Kind {
    /// A file of [`FOLDER`], and what is understood of it; see [`tell`].
    Ours(&'static str, &'static str),
    /// One that `corpus.rs` checks whole.
    Real(&'static str),
}

#[test]
fn every_kind_of_document_is_understood() {
    for (number, kind) in (1..).zip(KINDS) {
        match kind {
            Kind::Ours(file, expected) => {
                assert!(file.starts_with(&format!("{number:02}-")), "{file} is number {number}");
                let told = tell(&read(&Path::new(FOLDER).join(file)));
                assert_eq!(told, expected, "{file}");
            }
            Kind::Real(name) => {
                assert!(corpus::DOCUMENTS.iter().any(|it| it.0 == name), "{number}: {name}");
            }
        }
    }
}

#[test]
fn no_document_is_forgotten() {
    let files = std::fs::read_dir(FOLDER).unwrap().count();
    let ours = KINDS.iter().filter(|kind| matches!(kind, Kind::Ours(..))).count();
    assert_eq!((ours, ours + corpus::DOCUMENTS.len()), (files, KINDS.len()));
}

/// Version and address, the ways to sign in, then each operation as an agent sees it.
fn tell(document: &Document) -> String {
    assert_eq!(document.skipped(), []);
    let address = document.server_url(&BTreeMap::new());
    let mut lines = vec![format!("{} {address}", document.spec_version()).trim().to_owned()];
    let schemes = document.security_schemes();
    lines.extend(schemes.iter().map(|scheme| format!("{}: {:?}", scheme.name, scheme.kind)));
    for index in 0..document.len() {
        lines.push(signature(document, index, Depth::default()));
        let servers = document.operation(index).unwrap().servers;
        lines.extend(servers.iter().map(|server| format!("at {}", server.url)));
    }
    lines.join("\n")
}

/// In the order of the survey.
const KINDS: [Kind; 60] = [
    Kind::Real("adyen-capital-v31.json"),
    Kind::Real("airflow.yaml"),
    // anthropic.yaml
    Kind::Ours(
        "03-models-nullable-in-31.yaml",
        "3.1.0 https://models.example\n\
             reply_create POST /v1/replies\n\
             header{'models-version'?:string|null}\n\
             body:{model:string|'small',turns:string[],stop?:string|null}\n\
             -> 200 {id:string,kind?:'reply',stop?:string|null}",
    ),
    // api-with-examples-v2.yaml
    Kind::Ours(
        "04-version-list-v2.yaml",
        "2.0\n\
             // List versions\n\
             listVersions GET /\n\
             -> 200\n\
             getVersion GET /v2\n\
             -> 203",
    ),
    Kind::Real("argocd-v2.json"),
    Kind::Real("asana.yaml"),
    Kind::Real("authentik.yaml"),
    // aws-ec2.json
    Kind::Ours(
        "08-actions-in-the-query.json",
        "3.0.0 http://machines.north.example\n\
             GET_StopMachines GET /#Action=StopMachines\n\
             query{Version:'2016-11-15',MachineId:string[]} header{'X-Signature'?:string}\n\
             -> 200 <text/xml> {state?:string}\n\
             POST_StopMachines POST /#Action=StopMachines\n\
             query{Version?:string} header{'X-Signature'?:string}\n\
             body<text/xml>?:{MachineId:string[]}\n\
             -> 200 <text/xml> {state?:string}",
    ),
    // bitbucket.json
    Kind::Ours(
        "09-no-ids-and-cycles.json",
        "3.0.0 https://code.example/2.0\n\
             get_repositories_workspace_repo_slug_commit_commit GET /repositories/{workspace}/{repo_slug}/commit/{commit}\n\
             path{workspace:string,repo_slug:string,commit:string}\n\
             -> 200 {type:string,hash?:string,parents?:commit[]}\n\
             post_snippets POST /snippets\n\
             -> 201\n\
             post_snippets_2 POST /snippets/\n\
             -> 201",
    ),
    // blockfrost.yaml
    Kind::Ours(
        "10-ledger-no-ids.yaml",
        "3.0.3 https://main.ledger.example/api/v0\n\
             project_id: ApiKey\n\
             health GET /health\n\
             -> 200\n\
             // Addresses touched in a block\n\
             get_blocks_hash_or_number_addresses GET /blocks/{hash_or_number}/addresses\n\
             path{hash_or_number:string} query{count?:integer}\n\
             -> 200 (string|{address?:string})[]",
    ),
    Kind::Real("box.json"),
    // callback-example-v30.yaml
    Kind::Ours(
        "12-callbacks.yaml",
        "3.0.0\n\
             // subscribes a client to receive data\n\
             post_streams POST /streams\n\
             query{callbackUrl:string}\n\
             -> 201 {subscriptionId:string}",
    ),
    // cloudflare-dns.yaml
    Kind::Ours(
        "13-slice-with-names-in-quotes.yaml",
        "3.0.3\n\
             dns-records-for-a-zone-list GET /zones/{zone_id}/dns_records\n\
             path{zone_id:string} query{name?:{contains?:string,exact?:string}}\n\
             -> 200 {success:true,result?:{type,content}[]}",
    ),
    // cloudflare-radar.yaml
    Kind::Ours(
        "14-schemas-that-are-odd.yaml",
        "3.0.3\n\
             radar-traffic GET /radar/traffic/{dimension}\n\
             path{dimension:'DEVICE'|'OS'|7} query{dateRange?:string[],limit?:integer}\n\
             -> 200 {result?:Record<string,string[]>}",
    ),
    Kind::Real("cloudflare-zero_trust.yaml"),
    Kind::Real("cohere.yaml"),
    // datadog-v1.yaml
    Kind::Ours(
        "17-site-in-the-server.yaml",
        "3.0.0 https://api.watch.example\n\
             AuthZ: OAuth2\n\
             apiKeyAuth: ApiKey\n\
             appKeyAuth: ApiKey\n\
             CreateDashboard POST /api/v1/dashboard\n\
             body:{title:string,widgets:{definition?:Group|Note}[],notify?:string[]|null}\n\
             -> 200 {title:string,widgets:Widget[],id?:string,notify?:string[]|null}",
    ),
    Kind::Real("digitalocean.json"),
    Kind::Real("directus.json"),
    // discord.json
    Kind::Ours(
        "20-type-lists.json",
        "3.1.0 https://chat.example/api/v10\n\
             BotToken: ApiKey\n\
             update_channel PATCH /channels/{channel_id}\n\
             path{channel_id:string}\n\
             body:{name?:string|null,kind?:0|5|null,owner?:string|null}\n\
             -> 200 {id:string,tags?:string[]|null}",
    ),
    Kind::Real("docker-v2.yaml"),
    Kind::Real("gitea.json"),
    Kind::Real("github-webhooks-v31.json"),
    Kind::Real("github.json"),
    Kind::Real("gitlab.json"),
    Kind::Real("jira.json"),
    // jupyter-v2.yaml
    Kind::Ours(
        "27-notebooks-v2.yaml",
        "2.0\n\
             // Get a file or folder\n\
             get_api_contents_path GET /api/contents/{path}\n\
             path{path:string} query{type?:'file'|'directory',content?:integer}\n\
             -> 200 {name:string,writable?:boolean,content?:string}\n\
             post_api_kernels_kernel_id_interrupt POST /api/kernels/{kernel_id}/interrupt\n\
             path{kernel_id:string/*uuid*/}\n\
             -> 204",
    ),
    // kubernetes-v2.json
    Kind::Ours(
        "28-cluster-v2.json",
        "2.0\n\
             BearerToken: ApiKey\n\
             patchCoreV1NamespacedPod PATCH /api/v1/namespaces/{namespace}/pods/{name}\n\
             path{name:string,namespace:string} query{pretty?:string}\n\
             body<application/json-patch+json>:object\n\
             -> 200 {$ref?:string,not?:io.cluster.Props}",
    ),
    Kind::Real("kubernetes.json"),
    // langgraph.json
    Kind::Ours(
        "30-graphs-without-servers.json",
        "3.1.0\n\
             stream_run_threads__thread_id__runs_stream_post POST /threads/{thread_id}/runs/stream\n\
             path{thread_id:string/*uuid*/}\n\
             body:{assistant_id:string/*uuid*/|string,input?:object|any[]|string|number|boolean|null,stream_mode?:('values'|'updates')[]|'values'|'updates'}\n\
             -> 200 <text/event-stream> string",
    ),
    // link-example-v30.yaml
    Kind::Ours(
        "31-links.yaml",
        "3.0.0\n\
             getUserByName GET /2.0/users/{username}\n\
             path{username:string}\n\
             -> 200 {username?:string,uuid?:string}\n\
             getRepositoriesByOwner GET /2.0/repositories/{username}\n\
             path{username:string}\n\
             -> 200 {owner?:user}[]",
    ),
    // loket.json
    Kind::Ours(
        "32-media-types-with-versions.json",
        "3.0.2 https://api.payroll.example/v2\n\
             createWage POST /providers/employers/{employerId}/wages\n\
             path{employerId:string/*uuid*/}\n\
             body<application/json;version=2018-01-01>?:{amount:number,from?:string/*date*/}\n\
             -> 201 {id?:string}\n\
             get_providers_jobs GET /providers/jobs\n\
             -> 200",
    ),
    // meilisearch.json
    Kind::Ours(
        "33-derived-in-31.json",
        "3.1.0\n\
             Bearer: Http\n\
             update_documents PUT /indexes/{index_uid}/documents\n\
             path{index_uid:string} query{primaryKey?:string|null,csvDelimiter?:string|null}\n\
             body:any\n\
             -> 202 {taskUid:integer,details?:Record<string,any>}\n\
             scopes: documents.add *",
    ),
    Kind::Real("msgraph.json"),
    Kind::Real("museum-v31.yaml"),
    // non-oauth-scopes-v31.yaml
    Kind::Ours(
        "36-scopes-without-oauth.yaml",
        "3.1.0\n\
             bearerAuth: Http\n\
             get_users GET /users\n\
             -> 200\n\
             scopes: read:users public",
    ),
    Kind::Real("notion.json"),
    // openai.json
    Kind::Ours(
        "38-answers-in-31.json",
        "3.1.0 https://answers.example/v1\n\
             ApiKeyAuth: Http\n\
             createTranscript POST /audio/transcripts\n\
             body<multipart/form-data>:{file:binary,model:string|'whisper',seed?:integer|null,'include[]'?:'logprobs'[]}\n\
             -> 200 {text:string}|{text:string,duration:number}",
    ),
    Kind::Real("openai.yaml"),
    Kind::Real("pagerduty.json"),
    Kind::Real("parameters-style-v31.json"),
    // petstore-expanded-v2.json
    Kind::Ours(
        "42-pets-v2.json",
        "2.0 https://pets.example/api\n\
             findPets GET /pets\n\
             query{tags?:string[],limit?:integer}\n\
             -> 200 {name:string,id:integer,tag?:string}[]\n\
             addPet POST /pets\n\
             body:{name:string,tag?:string}\n\
             -> 200 {name:string,id:integer,tag?:string}",
    ),
    // petstore-expanded-v30.yaml
    Kind::Ours(
        "43-pets.yaml",
        "3.0.0 https://pets.example/v2\n\
             findPets GET /pets\n\
             query{tags?:string[],limit?:integer}\n\
             -> 200 {name:string,id:integer,tag?:string}[]\n\
             addPet POST /pets\n\
             body:{name:string,tag?:string}\n\
             -> 200 {name:string,id:integer,tag?:string}",
    ),
    // petstore-swagger-io-v30.yaml
    Kind::Ours(
        "44-pet-shop.yaml",
        "3.0.4 /api/v3\n\
             api_key: ApiKey\n\
             shop_auth: OAuth2\n\
             // Update a pet\n\
             updatePet PUT /pet\n\
             body:{name:string,photoUrls:string[],id?:integer,status?:'available'|'pending'|'sold'}\n\
             -> 200 {name:string,photoUrls:string[],id?:integer,status?:'available'|'pending'|'sold'}\n\
             scopes: write:pets\n\
             uploadPicture POST /pet/{petId}/picture\n\
             path{petId:integer}\n\
             body<application/octet-stream>?:binary\n\
             -> 200",
    ),
    // plaid.yaml
    Kind::Ours(
        "45-key-named-examples.yaml",
        "3.0.0 https://live.bank.example\n\
             clientId: ApiKey\n\
             secret: ApiKey\n\
             transactionsGet POST /transactions/get\n\
             body:{access_token:string,start_date:string/*date*/,count?:integer}\n\
             -> 200 {total?:integer}\n\
             reportRefresh POST /reports/{id}:refresh\n\
             path{id:string}\n\
             -> default",
    ),
    Kind::Real("prefect.json"),
    // qdrant.json
    Kind::Ours(
        "47-filters-in-filters.json",
        "3.0.1 http://localhost:6333\n\
             api-key: ApiKey\n\
             bearerAuth: Http\n\
             count_points POST /collections/{collection_name}/points/count\n\
             path{collection_name:string}\n\
             body?:{filter?:{must?:Has|Filter|(Has|Filter)[]|null}|null,exact?:boolean}\n\
             -> 200 {result?:integer,usage?:Filter|null}",
    ),
    Kind::Real("schema-types-v31.yaml"),
    // sendgrid.yaml
    Kind::Ours(
        "49-mail-v2.yaml",
        "2.0 https://mail.example/v3\n\
             Authorization: ApiKey\n\
             GET_alerts-id GET /alerts/{id}\n\
             path{id:integer} header{'on-behalf-of'?:string}\n\
             -> 200 {type:'usage'|'stats',frequency?:string|null}\n\
             GET_alerts-id_2 GET /alerts\n\
             -> 200 object[]",
    ),
    Kind::Real("sentry.json"),
    Kind::Real("slack-v2.json"),
    // spotify.yaml
    Kind::Ours(
        "52-dangling-references.yaml",
        "3.0.3 https://music.example/v1\n\
             get-an-album GET /albums/{id}\n\
             path{id:string}\n\
             -> 200 {tracks:integer,label?:string,artists?:unknown /*Artist*/[],restrictions?:unknown /*Restriction*/}",
    ),
    Kind::Real("stripe.json"),
    Kind::Real("tictactoe-v31.yaml"),
    Kind::Real("train-travel-v31.json"),
    // twilio.json
    Kind::Ours(
        "56-forms.json",
        "3.0.1\n\
             accountSid_authToken: Http\n\
             CreateCall POST /2010-04-01/Accounts/{AccountSid}/Calls.json\n\
             path{AccountSid:string}\n\
             body<application/x-www-form-urlencoded>?:{To:string,From:string,StatusEvents?:string[],Extra?:Record<string,string>}\n\
             -> 201 {sid?:string|null,status?:'queued'|'ringing'}\n\
             at https://calls.example",
    ),
    // vercel.json
    Kind::Ours(
        "57-union-bodies.json",
        "3.1.0 https://hosting.example\n\
             bearerToken: Http\n\
             createProjectEnv POST /v10/projects/{idOrName}/env\n\
             path{idOrName:string|boolean} query{upsert?:string}\n\
             body?:{key:string,value:string,target?:('production'|'preview')[]|string}|{key:string,value:string,target?:('production'|'preview')[]|string}[]\n\
             -> 201 {failed:{error}[]}\n\
             get_v1_health GET /v1/health\n\
             -> 200",
    ),
    Kind::Real("webhook-v31.yaml"),
    // zoom-v2.json
    Kind::Ours(
        "59-meetings-v2.json",
        "2.0 https://api.meetings.example/v2\n\
             OAuth: OAuth2\n\
             userPicture POST /users/{userId}/picture\n\
             path{userId:string}\n\
             body<multipart/form-data>:{pic_file:binary,sizes?:integer[]}\n\
             -> 201",
    ),
    // zoom.json
    Kind::Ours(
        "60-meetings.json",
        "3.0.0 https://api.meetings.example/v2\n\
             OAuth: OAuth2\n\
             meetingUpdate PATCH /meetings/{meetingId}\n\
             path{meetingId:integer} query{occurrence_id?:string}\n\
             body?:{topic?:string,type?:1|2|3|8,settings?:{host_video?:boolean}}\n\
             -> 204",
    ),
];
