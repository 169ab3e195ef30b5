// Parses a request to the Guide into goals. A request that is not understood completely is not carried out.
import { withoutTrailing, countOf } from '../../base/text.ts';
import { fixProblems } from './guideFix.ts';
import { type Goal, single, type Decision, type Taken } from './guidePlan.ts';
import { fence, introduce, reportRead, reportRun, reportText } from './guideSpeech.ts';
import { filesIn } from './guideReading.ts';

const SEPARATOR = /\n|,?\s{1,9}(?:and\s{1,9})?then\s/i;
/** Longer requests match none of these patterns, and would be slow to reject. */
const LONGEST_PART = 2000;
const QUOTED = '(?:"([^"]*)"|\'([^\']*)\'|`([^`]*)`|“([^”]*)”)';

type Rule = { readonly pattern: RegExp; goal(match: RegExpMatchArray): Goal };

const rule = (source: string, goal: Rule['goal']): Rule => ({
  pattern: new RegExp(`^(?:please\\s+)?(?:${source})[.!?]?$`, 'is'),
  goal,
});

/** The first match decides, so more specific patterns come first. */
const RULES: readonly Rule[] = [
  rule('(?:give me |show me |start |take )?(?:a |the )?tour|show me around', () => tour),
  rule('help|hello|hi|hey|what can (?:you|i) do|who are you|what are you', () => () => ({
    type: 'done',
    report: introduce(),
  })),
  rule(
    "what(?:’s|'s| has| is)? (?:happened|new|going on)|what did (?:you hear|i miss)|(?:any )?news|notifications",
    () => whatHappened,
  ),
  rule(
    'fix (?:all |all of )?(?:the |my )?(?:problems?|errors?|it|them|everything)(?:\\s+(?:in|of)\\s+(.+?))?',
    ([, path]) => fixProblems(path === undefined ? undefined : unquote(path)),
  ),
  rule('fix (\\S+\\.\\w+)', ([, path = '']) => fixProblems(unquote(path))),
  rule(
    '(?:show |list |check |what are )?(?:me )?(?:the |all |my )?(?:problems|errors|diagnostics)(?:\\s+(?:in|of)\\s+(.+?))?',
    ([, path]) => showProblems(path === undefined ? undefined : unquote(path)),
  ),
  rule(`(?:search|grep|look|find)(?: for)? ${QUOTED}(?:\\s+in\\s+(.+?))?`, (match) =>
    search(quoted(match, 1), match[5]),
  ),
  rule('(?:search|grep)(?: for)? (.+?)(?:\\s+in\\s+(\\S+))?', ([, query = '', path]) => search(query, path)),
  rule(`(?:replace|change) ${QUOTED} (?:with|by|to|into) ${QUOTED} in (.+?)`, (match) =>
    edit(unquote(match[9] ?? ''), quoted(match, 1), quoted(match, 5)),
  ),
  rule(`in (\\S+?),? (?:replace|change) ${QUOTED} (?:with|by|to|into) ${QUOTED}`, (match) =>
    edit(unquote(match[1] ?? ''), quoted(match, 2), quoted(match, 6)),
  ),
  rule(`(?:create|write|make) (?:a |the )?(?:new )?(?:file )?(\\S+) (?:with|saying|containing) ${QUOTED}`, (match) =>
    write(unquote(match[1] ?? ''), quoted(match, 2)),
  ),
  rule('stop watching (.+?)', ([, glob = '']) =>
    watch({ remove: [unquote(glob)] }, `I stop watching \`${unquote(glob)}\`.`),
  ),
  rule('watch (?:for )?(?:the )?(?:files? |folder )?(.+?)', ([, glob = '']) =>
    watch({ add: [asGlob(unquote(glob))] }, `I watch \`${asGlob(unquote(glob))}\`.`),
  ),
  rule('(?:run|start|launch) (.+?) in (?:the )?background(?: as ([\\w-]+))?', ([, command = '', name]) =>
    runInBackground(unquote(command), name),
  ),
  rule('run (?:the )?task (.+?)|run (?:the )?(\\S+) task', ([, name, other]) => runTask(unquote(name ?? other ?? ''))),
  rule('wait for ([\\w-]+)', ([, name = '']) =>
    single({ tool: 'await', arguments: { any: [name] } }, `I wait for \`${name}\`.`, (result) =>
      reportText(`\`${name}\`:`, result),
    ),
  ),
  rule('(?:stop|end|abort) (?:the )?(?:handle )?([\\w-]+)', ([, name = '']) =>
    handle('abort', name, `I stop \`${name}\`.`),
  ),
  rule('(?:show |fetch )?(?:the )?output of ([\\w-]+)', ([, name = '']) =>
    handle('fetch', name, `I fetch what \`${name}\` printed.`),
  ),
  rule('ask me (.+?)(?::\\s*(.+?))?', ([, question = '', options]) => ask(question, options)),
  rule('(?:run|execute|\\$) (.+)', ([, command = '']) => run(unquote(command))),
  rule('(?:list|ls)(?:\\s+(?:all\\s+)?(?:the\\s+|my\\s+)?files)?(?:\\s+(?:in|of|below|under)?\\s*(.+?))?', ([, path]) =>
    list(path === undefined ? undefined : unquote(path)),
  ),
  rule('(?:read|open|show|look at|cat)\\s+(?:the\\s+file\\s+|file\\s+)?(.+)', ([, path = '']) => read(unquote(path))),
];

/** Undefined if any part of it is not understood. */
export function parseRequest(text: string): Goal[] | undefined {
  const parts = text.split(SEPARATOR).flatMap((part) => part.trim() || []);
  const goals = parts.map(parseGoal);
  return goals.length > 0 && goals.every((goal) => goal !== undefined) ? goals : undefined;
}

function parseGoal(text: string): Goal | undefined {
  for (const { pattern, goal } of RULES) {
    const match = text.length > LONGEST_PART ? null : text.match(pattern);
    if (match !== null) return goal(match);
  }
  return undefined;
}

function read(path: string): Goal {
  return single({ tool: 'read_file', arguments: { path } }, `I will read \`${path}\`.`, (result, failed) =>
    failed ? reportText(`I cannot read \`${path}\`:`, result) : reportRead(path, result),
  );
}

function list(path: string | undefined): Goal {
  const say = path === undefined ? 'I list the files.' : `I list the files of \`${path}\`.`;
  const step = { tool: 'list_files', arguments: path === undefined ? {} : { path } };
  return single(step, say, (result) => reportText(`There ${result.includes('\n') ? 'are' : 'is'}:`, result));
}

function search(query: string, path: string | undefined): Goal {
  const where = path === undefined ? {} : { path: unquote(path) };
  const say = `I search for \`${query}\`${path === undefined ? '' : ` in \`${unquote(path)}\``}.`;
  return single({ tool: 'search', arguments: { query, ...where } }, say, (result) => reportText('Found:', result));
}

function edit(path: string, before: string, after: string): Goal {
  const step = { tool: 'edit_file', arguments: { path, edits: [{ old_text: before, new_text: after }] } };
  return single(step, `I would like to change \`${path}\`.`, (result) => reportText(`\`${path}\`:`, result));
}

function write(path: string, content: string): Goal {
  const step = { tool: 'write_file', arguments: { path, content: `${content}\n` } };
  return single(step, `I would like to write \`${path}\`.`, (result) => reportText(`\`${path}\`:`, result));
}

function run(command: string): Goal {
  const step = { tool: 'run_command', arguments: { command } };
  return single(step, `I would like to run \`${command}\`.`, (result) => reportRun(`\`${command}\``, result));
}

function runTask(name: string): Goal {
  const step = { tool: 'run_task', arguments: { name } };
  return single(step, `I would like to run the task \`${name}\`.`, (result) =>
    reportRun(`the task \`${name}\``, result),
  );
}

function runInBackground(command: string, given: string | undefined): Goal {
  const name = given ?? nameFor(command);
  const step = { tool: 'run_command', arguments: { command, background: true, handle: name } };
  return single(step, `I would like to run \`${command}\` in the background, as \`${name}\`.`, (result) =>
    [result, `Send \`output of ${name}\`, \`wait for ${name}\` or \`stop ${name}\`. I am notified when it ends.`].join(
      '\n\n',
    ),
  );
}

/** `npm run watch` → watch: the last word that can be a name. */
function nameFor(command: string): string {
  const words = command.split(/\s+/).filter((word) => /^[a-z][\w-]*$/i.test(word));
  return words.at(-1) ?? 'background';
}

function handle(action: string, name: string, say: string): Goal {
  return single({ tool: 'handle', arguments: { action, name } }, say, (result) => reportText(`\`${name}\`:`, result));
}

function watch(args: Readonly<Record<string, unknown>>, say: string): Goal {
  return single(
    { tool: 'watch', arguments: args },
    say,
    (result) => `${result} I am notified when such files are created or changed.`,
  );
}

/** A folder means everything in it. */
function asGlob(path: string): string {
  return /[*?{[]/.test(path) || /\.\w+$/.test(path) ? path : `${withoutTrailing(path, '/')}/**`;
}

function showProblems(path: string | undefined): Goal {
  const step = { tool: 'diagnostics', arguments: path === undefined ? {} : { path } };
  return single(step, 'I ask for the problems.', (result) => reportText('Language servers say:', result));
}

function ask(question: string, options: string | undefined): Goal {
  const offered = (options ?? '').split(/,(?:\s*or\s)?|\sor\s/).flatMap((option) => option.trim() || []);
  const step = { tool: 'ask_user', arguments: { question, ...(offered.length > 1 && { options: offered }) } };
  return single(step, 'I ask you, as a model would.', (result) => result);
}

const whatHappened: Goal = single(
  { tool: 'read_notifications', arguments: {} },
  'I look up all notifications.',
  (result) => `These are my notifications, newest first:\n\n${fence(result)}`,
);

/** The text between the quotes: exactly one of the four groups matched. */
function quoted(match: RegExpMatchArray, first: number): string {
  const ways: readonly (string | undefined)[] = match.slice(first, first + 4);
  return ways.find((text) => text !== undefined) ?? '';
}

/** `"a b"`, `'a b'` and `` `a b` `` mean a b; a full stop after a path is dropped. */
function unquote(text: string): string {
  const trimmed = text.trim();
  const found = trimmed.match(/^(["'`])(.+)\1\.?$/s);
  return found?.[2] ?? trimmed.replace(/(?<=[^.\s])\.$/, '');
}

const CHANGED = 'I have changed and saved it';
const FOR_ME = 'Change it for me';
const SKIP = 'Skip this';
/** The file that the tour writes if the folder has no suitable file. */
const NEW_FILE = 'earshot-tour.md';
const FAVOURITES = [/^readme\.md$/i, /^[^/]+\.md$/i, /\.(?:ts|js|py|rs|go|java|c|cpp|rb|php|txt|json|toml)$/i];

/**
 * The tour: the Guide reads a file, the user changes it, and the Guide shows the notification. All with real tools.
 */
const tour: Goal = ([listed, ...after]) => {
  if (listed === undefined) {
    return {
      type: 'call',
      step: { tool: 'list_files', arguments: {} },
      say: 'Welcome. I am no AI, but everything you see here is real: the tools, the approvals and the notifications.\n\n**1 of 3.** I look around. Each call has a card; open it to see what went in and what came out.',
    };
  }
  const found = choose(listed.result);
  const file = found ?? NEW_FILE;
  const written = found === undefined ? after[0] : undefined;
  if (found === undefined && written === undefined) return writeFile();
  if (written?.failed === true)
    return { type: 'done', report: 'There is no file here to show it with. Create one, then send `tour` again.' };
  const [read, asked, changed] = found === undefined ? after.slice(1) : after;
  if (read === undefined) {
    return {
      type: 'call',
      step: { tool: 'read_file', arguments: { path: file } },
      report:
        found === undefined ? 'Written.' : `That is what is here: ${countOf(filesIn(listed.result).length, 'file')}.`,
      say: `**2 of 3.** I read \`${file}\`. From now on I am notified when anybody changes it.`,
    };
  }
  if (asked === undefined) return askForChange(file);
  if (changed === undefined && asked.result.includes(FOR_ME)) return changeIt(file);
  return conclude(file, changed === undefined ? [asked] : [asked, changed]);
};

function choose(listing: string): string | undefined {
  const files = filesIn(listing);
  return FAVOURITES.map((pattern) => files.find((file) => pattern.test(file))).find((file) => file !== undefined);
}

function writeFile(): Decision {
  const content = '# Tour\n\nChange this line and save. You can delete this file afterwards.\n';
  return {
    type: 'call',
    step: { tool: 'write_file', arguments: { path: NEW_FILE, content } },
    report: 'There is no file here to show it with.',
    say: `I write \`${NEW_FILE}\`. Changes need your approval; you see the difference first.`,
  };
}

function askForChange(file: string): Decision {
  const question = `Open \`${file}\` in the editor, change a line and save. I wait here. What did you do?`;
  return {
    type: 'call',
    step: { tool: 'ask_user', arguments: { question, options: [CHANGED, FOR_ME, SKIP] } },
    say: '**3 of 3.** Now you. This is how a model asks you something; it can wait as long as you like.',
  };
}

/** Changes the file with a command: such a change is reported like one of any other program. */
function changeIt(file: string): Decision {
  const command = `echo "" >> ${JSON.stringify(file)}`;
  return {
    type: 'call',
    step: { tool: 'run_command', arguments: { command } },
    say: `I append an empty line to \`${file}\` with a command. Commands need your approval.`,
  };
}

/** Explains what was observed; the caller describes the notification itself. */
function conclude(file: string, steps: readonly Taken[]): Decision {
  const notified = steps.some(({ block }) => block?.includes(file) === true);
  const claimed = steps.some(({ result }) => result.includes(CHANGED) || result.includes(FOR_ME));
  const explained = notified
    ? `\`${file}\` was changed, and I was notified: the card above has the chip. Open it to read the notification word for word as a model reads it. It was delivered once, with the result of what was running.`
    : claimed
      ? `I was not notified: \`${file}\` still has the text that I have read. When you save a change, it is listed above the message field, and the next result or request delivers it.`
      : 'Skipped. You can change a file I have read at any time: the next result or request delivers the notification.';
  const next = [`read ${file}`, 'show the problems', 'what happened'].map((text) => `- \`${text}\``);
  return {
    type: 'done',
    report: `${explained}\n\nThat was the tour. Go on with one of these, or choose a real model with *Earshot: Choose Model*:\n\n${next.join('\n')}`,
  };
}
