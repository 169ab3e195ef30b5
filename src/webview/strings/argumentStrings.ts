// Labels of tool arguments, and of values that are words of a protocol.
import { readableKey } from '../../base/toolLabels.ts';
import { t } from './l10n.ts';
import { strings } from './strings.ts';

type Labels = Readonly<Record<string, string>>;

/** Arguments that mean the same for every tool that has them. */
const SHARED: Labels = {
  action: t('Action'),
  add: t('Watch'),
  all: t('All of'),
  any: t('Any of'),
  arguments: t('Options'),
  background: t('In the background'),
  before: t('Earlier than'),
  cancel: t('Cancel'),
  case_sensitive: t('Match case'),
  command: t('Command'),
  content: t('Content'),
  context_lines: t('Lines around each match'),
  edits: t('Changes'),
  end_input: t('Close the input'),
  event: t('Event'),
  every: t('Every'),
  exclude: t('Without files'),
  file: t('File'),
  files: t('Files'),
  first_line: t('From line'),
  folder: t('Folder'),
  from: t('From byte'),
  handle: t('Name'),
  id: t('Message'),
  include: t('Only files'),
  include_ignored: t('Ignored files too'),
  input: t('Accepts input'),
  items: t('Steps'),
  kind: t('Kind'),
  last_line: t('To line'),
  line: t('Line'),
  model: t('Model'),
  most: t('At most'),
  name: t('Name'),
  new_name: t('New name'),
  new_text: t('New text'),
  no_newline: t('Without line break'),
  note: t('Note'),
  notify_on: t('Lines'),
  old_text: t('Old text'),
  options: t('Options'),
  or_after: t('At the latest after'),
  path: t('Path'),
  query: t('Search for'),
  question: t('Question'),
  quiet_after_secs: t('Seconds of silence'),
  regex: t('Regular expression'),
  remove: t('Stop watching'),
  replace_all: t('Every occurrence'),
  reply_to: t('Answer to'),
  server: t('MCP server'),
  several: t('Several answers'),
  severity: t('At least'),
  since: t('Since'),
  stale: t('Only outdated files'),
  start: t('From character'),
  state: t('State'),
  subject: t('About'),
  symbol: t('Symbol'),
  tail: t('Lines of files'),
  task: t('Task'),
  text: t('Text'),
  timeout_secs: t('Time limit in seconds'),
  title: t('Title'),
  to: t('To'),
  tools: t('Tools'),
  untail: t('Stop'),
  uri: t('Address'),
  url: t('Address'),
  wake: t('Wake'),
  when: t('Condition'),
};

const OF_TOOL: Readonly<Record<string, Labels>> = {
  apply_patch: { input: t('Patch') },
  move_file: { to: t('New path') },
  run_task: { name: t('Task') },
  run_tests: { files: t('Test files'), names: t('Tests') },
  send_message: { content: t('Message') },
};

const VALUES: Readonly<Record<string, Labels>> = {
  severity: { error: t('Errors'), warning: t('Warnings'), info: t('Information') },
  state: strings.todoStates,
};

/** Undefined for tools of MCP servers, whose arguments Earshot does not know. */
export function knownArgumentLabel(tool: string, key: string): string | undefined {
  return OF_TOOL[tool]?.[key] ?? (Object.hasOwn(SHARED, key) ? SHARED[key] : undefined);
}

/** `isKnown`: the tool is one of Earshot's. An argument of a server keeps its own name, in readable form. */
export function argumentLabel(tool: string, key: string, isKnown: boolean): string {
  return (isKnown ? knownArgumentLabel(tool, key) : undefined) ?? readableKey(key);
}

export const argumentStrings = {
  yes: t('Yes'),
  no: t('No'),
  nothing: t('Nothing'),
  earlierMessage: t('an earlier message'),
  /** While a call is being written. */
  moreBefore: (count: number) => (count === 1 ? t('1 earlier entry') : t('{0} earlier entries', count)),
  value: (key: string, value: string) => VALUES[key]?.[value],
};
