// Decides the tour: a file is read, the newcomer changes it, and hears that the Guide heard it. Every step is a real tool.
import { type Decision, type Goal, type Taken } from './guidePlan.ts';
import { filesIn } from './guideReading.ts';
import { SUGGESTIONS } from './guideSpeech.ts';

const CHANGED = 'I have changed and saved it';
const SKIP = 'Skip this';
const FAVOURITES = [/^readme\.md$/i, /^[^/]+\.md$/i, /\.(?:ts|js|py|txt|json)$/i];

export const tour: Goal = (taken) => {
  const [listed, read, asked] = taken;
  if (listed === undefined) {
    return {
      type: 'call',
      step: { tool: 'list_files', arguments: {} },
      say: 'Welcome. I am no AI, but everything you see here is real: the tools, the approvals, and what I hear.\n\n**1 of 3.** I look around. Each call has a card; open it to see what went in and what came out.',
    };
  }
  const file = choose(listed.result);
  if (file === undefined)
    return { type: 'done', report: 'There is no file here to show it with. Make one, then say `tour` again.' };
  if (read === undefined) {
    return {
      type: 'call',
      step: { tool: 'read_file', arguments: { path: file } },
      report: `That is what is here: ${filesIn(listed.result).length} files.`,
      say: `**2 of 3.** I read \`${file}\`. From now on I am told when it changes, whoever changes it.`,
    };
  }
  if (asked === undefined) return askForChange(file);
  return conclude(file, asked);
};

function choose(listing: string): string | undefined {
  const files = filesIn(listing);
  return FAVOURITES.map((pattern) => files.find((file) => pattern.test(file))).find((file) => file !== undefined);
}

function askForChange(file: string): Decision {
  const question = `Open ${file} in the editor, change a line and save. I wait here. What did you do?`;
  return {
    type: 'call',
    step: { tool: 'ask_user', arguments: { question, options: [CHANGED, SKIP] } },
    say: '**3 of 3.** Now you. This is how a model asks you something; it can wait as long as you like.',
  };
}

/** The notification itself is told by the driver, since it rides the answer's card. */
function conclude(file: string, { result }: Taken): Decision {
  const heard = result.includes(CHANGED)
    ? `If you changed \`${file}\`, the card above has a chip: that is the notification, word for word as a model would read it. It is told once, with the result of whatever was running.`
    : 'Skipped. You can change a file I have read at any time: the next result brings the news.';
  const next = SUGGESTIONS.slice(1, 6).map(([text]) => `- \`${text}\``);
  return {
    type: 'done',
    report: `${heard}\n\nThat was the tour. Go on with one of these, or choose a real model with *Earshot: Choose Model*:\n\n${next.join('\n')}`,
  };
}
