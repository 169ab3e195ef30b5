// Reports failed commands in the user's terminals to every live conversation, with the last lines of their output.
import { type Disposable } from '../base/disposable.ts';
import { printCommandLine, printPath } from '../base/printPath.ts';
import { maskSecrets } from '../base/secrets/maskSecrets.ts';
import { plainText } from '../base/terminalText.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../core/ports/ports.ts';
import { type EndedCommand, type Terminals } from '../core/ports/sources.ts';
import { KINDS } from '../protocol/kinds.ts';
import { type NotificationDraft } from '../protocol/notification.ts';

const KIND = { source: 'terminal', name: 'failed' } as const;
const LAST_LINES = 15;
const LINE_LIMIT = 300;
const OUTPUT_LIMIT = 1200;
const COMMAND_LIMIT = 200;
/** Exit codes of Ctrl+C and of a closed pipe, which are not failures. */
const ENDED_ON_PURPOSE: ReadonlySet<number> = new Set([130, 141]);

/** Commands for which exit code 1 is a normal answer: nothing found, or a difference. */
const ANSWERS_WITH_1 = /(^|[|;&]\s*)(git\s+)?([ef]?grep|rg|diff|cmp)\b[^|;&]*$/;

export interface TerminalsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly terminals: Terminals;
}

export function createTerminalsProducer({ clock, logger, terminals }: TerminalsDeps): Producer {
  return {
    name: 'terminals',
    start: (publisher): Disposable =>
      terminals.onDidEnd((ended) => {
        void reportEnd(publisher, ended, new Date(clock.now()).toISOString()).catch((error: unknown) =>
          logger.error('a failed command could not be reported', error),
        );
      }),
  };
}

async function reportEnd(publisher: Publisher, ended: EndedCommand, at: string): Promise<void> {
  const { exitCode } = ended;
  const draft = describeFailedCommand(ended);
  // A failure that was not delivered and is fixed is not reported.
  if (exitCode === 0) await publisher.withdraw(KIND, draft.subject, 'it succeeded since');
  else if (exitCode !== undefined && hasFailed(ended.commandLine, exitCode)) await publisher.publish({ ...draft, at });
}

function hasFailed(commandLine: string, exitCode: number): boolean {
  return !ENDED_ON_PURPOSE.has(exitCode) && !(exitCode === 1 && ANSWERS_WITH_1.test(commandLine.trim()));
}

function describeFailedCommand({ terminal, commandLine, exitCode, folder, output }: EndedCommand) {
  const command = printCommandLine(maskSecrets(commandLine));
  const shown = command.length > COMMAND_LIMIT ? `${command.slice(0, COMMAND_LIMIT)}…` : command;
  const place = folder === undefined ? '' : ` in ${printPath(folder)}`;
  const lines = lastLines(output);
  const printed = lines.length === 0 ? '.' : `. Its last lines:\n${lines.join('\n')}`;
  const message = `In the user’s terminal “${printPath(terminal)}” the command \`${shown}\` failed with exit code ${exitCode ?? 'unknown'}${place}${printed}`;
  const { level, origin } = KINDS['terminal.failed'];
  // The same command line in another folder is another command.
  const subject = `terminal:${command}`.slice(0, 1000) + place;
  return { kind: KIND, level, origin, subject, message } satisfies Omit<NotificationDraft, 'at'>;
}

function lastLines(output: string): string[] {
  const plain = plainText(output)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
  if (plain === '') return [];
  const kept: string[] = [];
  let length = 0;
  // Masked before it is cut, since a key of several lines is recognized by its first line.
  for (const line of maskSecrets(plain).split('\n').slice(-LAST_LINES).reverse()) {
    const shown = line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)}…` : line;
    length += shown.length;
    if (length > OUTPUT_LIMIT) break;
    kept.unshift(shown);
  }
  return kept;
}
