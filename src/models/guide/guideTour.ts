// The tour: the Guide reads a file, the user changes it, and the Guide shows the notification. All with real tools.
import { countOf } from '../../base/text.ts';
import { type Decision, type Goal, type Taken } from './guidePlan.ts';
import { filesIn } from './guideReading.ts';

const CHANGED = 'I have changed and saved it';
const FOR_ME = 'Change it for me';
const SKIP = 'Skip this';
/** The file that the tour writes if the folder has no suitable file. */
const NEW_FILE = 'earshot-tour.md';
const FAVOURITES = [/^readme\.md$/i, /^[^/]+\.md$/i, /\.(?:ts|js|py|rs|go|java|c|cpp|rb|php|txt|json|toml)$/i];

export const tour: Goal = ([listed, ...after]) => {
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
