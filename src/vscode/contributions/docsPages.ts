// Generates the parts of the documentation that tables of the code decide: the page of settings, and the table of kinds
// of notification.
import { type KindDescription, KINDS } from '../../protocol/kinds.ts';
import { contributedSettings } from './settings.ts';

interface Contributed {
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
  readonly markdownDescription?: string;
}

interface Section {
  readonly title: string;
  readonly properties: Readonly<Record<string, Contributed>>;
}

/** The content of docs/settings.md. */
export function settingsPage(): string {
  const sections = contributedSettings() as readonly Section[];
  return `# Settings

Every setting works without being changed. [Who may set what](settings-safety.md) says what a workspace’s settings can do.

This page is written by \`npm run contributions\`.
${sections.map(printSection).join('')}`;
}

function printSection({ title, properties }: Section): string {
  const rows = Object.entries(properties).map(
    ([name, setting]) => `| \`${name}\` | ${cell(JSON.stringify(setting.default))} | ${describeSetting(setting)} |\n`,
  );
  return `\n## ${title}\n\n| setting | default | what it does |\n|---|---|---|\n${rows.join('')}`;
}

function describeSetting({ markdownDescription = '', enum: values, enumDescriptions }: Contributed): string {
  const description = oneLine(markdownDescription.replace(/`#([\w.]+)#`/g, '`$1`'));
  if (values === undefined || enumDescriptions === undefined) return description;
  const options = values.map((value, index) => `\`${String(value)}\`: ${oneLine(enumDescriptions[index] ?? '')}`);
  return `${description}<br>${options.join('<br>')}`;
}

function cell(json: string | undefined): string {
  return json === undefined ? '' : `\`${json}\``;
}

/** A vertical bar would end the cell. */
function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.join(' ').replaceAll('|', '\\|');
}

const AUDIENCES: Readonly<Record<KindDescription['audience'], string>> = {
  seen: 'conversations that have read the file',
  watch: 'conversations that watch for it',
  live: 'all open conversations',
  owner: 'the conversation that started the command',
  server: 'conversations that use the server',
  itself: 'the conversation itself',
  asked: 'the conversation that asked for it',
  messages: 'agents that are addressed or subscribed',
  author: 'the conversation that made or pushed the commit',
};

const WAKES: Readonly<Record<NonNullable<KindDescription['wakes']>, string>> = {
  always: 'yes',
  asked: 'if it was asked for',
  own: 'for its own commit',
};

const BEGIN = '<!-- kinds -->';
const END = '<!-- /kinds -->';

/** The content of docs/notifications.md with its table of kinds replaced. */
export function withKinds(page: string): string {
  const [before, rest] = [page.slice(0, page.indexOf(BEGIN)), page.slice(page.indexOf(END))];
  const rows = Object.entries<KindDescription>(KINDS).map(
    ([kind, { level, audience, description, wakes }]) =>
      `| \`${kind}\` | ${level} | ${oneLine(description)} | ${AUDIENCES[audience]} | ${wakes === undefined ? 'no' : WAKES[wakes]} |`,
  );
  return `${before}${BEGIN}\n| kind | level | what happened | who is notified | wakes |\n|---|---|---|---|---|\n${rows.join('\n')}\n${rest}`;
}
