//! Does an agent really get the job done? Tasks on stateful fixtures, judged by independent verifiers.
//!
//! Reading order: `task` (what a task is, as data), `tasks` (the tasks), `trial` (one run of one
//! agent: a fresh `world`, the shipped server, the `wire` between), `evidence` (what is seen from
//! outside), `scene` and `grade` (how it is judged), `report`. The verifiers read exported states and
//! logs; nothing of the fixture's code is theirs.

pub mod agent;
pub mod agents;
pub mod answer;
pub mod cli;
pub mod common;
pub mod compare;
pub mod evidence;
pub mod grade;
pub mod html;
pub mod provenance;
pub mod regrade;
pub mod report;
pub mod run;
pub mod scene;
pub mod schema;
pub mod serve;
pub mod server;
pub mod state;
pub mod task;
pub mod tasks;
pub mod trial;
pub mod wire;
pub mod world;
