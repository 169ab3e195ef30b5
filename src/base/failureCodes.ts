// Codes of expected failures, one union per area. Code that reacts to a failure compares the code, not the message.

/** Resolving, reading and changing files. */
export type FileCode =
  | 'bad_path'
  | 'bad_skill'
  | 'dangling'
  | 'encoding'
  | 'exists'
  | 'hidden'
  | 'is_file'
  | 'is_folder'
  | 'moved'
  | 'no_folder'
  | 'no_rights'
  | 'not_found'
  | 'not_regular'
  | 'not_saved'
  | 'not_text'
  | 'outside'
  | 'protected'
  | 'read_only'
  | 'refused'
  | 'stale'
  | 'too_big'
  | 'twice'
  | 'unreadable'
  | 'unsaved'
  | 'untrusted'
  | 'unwritable';

/** The conversation's log, its lock and snapshots on disk. */
export type StorageCode = 'bad_id' | 'closed' | 'log_damaged' | 'not_owner' | 'storage';

type CheckpointCode =
  | 'checkpoint'
  | 'disk'
  | 'moved_on'
  | 'no_checkpoint'
  | 'no_decision'
  | 'no_turn'
  | 'nothing'
  | 'other';

/** Endpoints, requests to a model and its answers. */
export type ModelCode =
  | 'answer_too_large'
  | 'answer_too_long'
  | 'bad_request'
  | 'content_refused'
  | 'context_overflow'
  | 'empty_answer'
  | 'forbidden'
  | 'idle'
  | 'key_missing'
  | 'key_refused'
  | 'list_too_large'
  | 'malformed'
  | 'model_gone'
  | 'no_list'
  | 'no_permission'
  | 'no_quota'
  | 'no_stream'
  | 'not_found'
  | 'rate_limited'
  | 'refused'
  | 'region_refused'
  | 'schema'
  | 'stream_broken'
  | 'stream_cut'
  | 'stream_error'
  | 'unreachable';

/** Arguments and results of tool calls, language servers included. */
type ToolCode =
  | 'bad_arguments'
  | 'bad_patch'
  | 'cancelled'
  | 'gone'
  | 'http_error'
  | 'interrupted'
  | 'no_fixes'
  | 'no_line'
  | 'no_symbol'
  | 'no_task'
  | 'no_text'
  | 'no_tool'
  | 'slow'
  | 'too_deep';

/** Answers to approvals, and whether a call still does what was approved. */
type ApprovalCode = 'already_answered' | 'not_as_approved' | 'only_planned' | 'plan_mode' | 'rejected';

/** Commands and tasks. */
export type ProcessCode =
  | 'bad_command'
  | 'name_taken'
  | 'no_handle'
  | 'not_followed'
  | 'no_input'
  | 'no_tasks'
  | 'no_tests'
  | 'not_running'
  | 'not_set'
  | 'not_started'
  | 'running';

/** Conversations, their turns and what the user writes. */
type ConversationCode =
  | 'asked'
  | 'bad_schema'
  | 'bug'
  | 'carried'
  | 'empty'
  | 'image_size'
  | 'image_type'
  | 'limit'
  | 'no_conversation'
  | 'no_title'
  | 'not_a_cycle_end'
  | 'not_open'
  | 'nothing_pending'
  | 'nothing_to_fork'
  | 'too_large'
  | 'too_many';

/** The hub and other agents. */
export type HubCode = 'hub_absent' | 'hub_off' | 'hub_refused' | 'no_agent' | 'no_message';

/** Requests of plugins that are refused, and plugins that cannot be run. */
type PluginCode = 'not_approved' | 'plugin';

/** MCP servers and their tools. */
type ServerCode = 'no_events' | 'no_server' | 'server_error' | 'sign_in';

/** The user's configuration, and the producers that depend on it. */
type SetupCode = 'hook' | 'producer' | 'setting';

export type FailureCode =
  | FileCode
  | StorageCode
  | CheckpointCode
  | ModelCode
  | ToolCode
  | ApprovalCode
  | ProcessCode
  | ConversationCode
  | HubCode
  | PluginCode
  | ServerCode
  | SetupCode;
