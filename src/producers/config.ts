// Reports in one line how the next request differs from the last one: model, mode, tools, instructions, skills.
import { toDisposable } from '../base/disposable.ts';
import { printPath } from '../base/printPath.ts';
import { differenceOf } from '../core/files/difference.ts';
import { type Producer } from '../core/ports/ports.ts';
import { type DeliveryPoint, type RequestConfig } from '../core/ports/producers.ts';

const KIND = { source: 'config', name: 'changed' } as const;
const NAMED = 12;
/** Limits for all diffs together. */
const SHOWN = { lines: 40, characters: 1200 };

export function createConfigProducer(): Producer {
  return {
    name: 'config',
    start: () => toDisposable(() => undefined),
    sample: async (point: DeliveryPoint) => {
      const changes = describeChanges(point.used, point.config);
      const sample = { kind: KIND, subject: 'config' };
      if (changes.length === 0) return [sample];
      const differences = await differencesIn(point);
      const message = [`Since your last answer: ${changes.join('; ')}.`, ...differences].join('\n');
      return [{ ...sample, draft: { level: 'info', message, origin: 'host' } }];
    },
  };
}

/** Parts of the last request that are not known are not compared. */
function describeChanges(used: Partial<RequestConfig>, now: RequestConfig): string[] {
  const tools = compare(used.tools ?? now.tools, now.tools);
  const [before, after] = [named(used.instructions ?? now.instructions), named(now.instructions)];
  const files = compare([...before.keys()], [...after.keys()]);
  const edited = editedIn(before, after);
  const [oldSkills, skills] = [named(used.skills ?? now.skills), named(now.skills)];
  const offered = compare([...oldSkills.keys()], [...skills.keys()]);
  return [
    ...(used.model === undefined || used.model === now.model
      ? []
      : [`the model is ${printPath(now.model)} (it was ${printPath(used.model)})`]),
    ...(used.mode === undefined || used.mode === now.mode ? [] : [`the mode is ${now.mode} (it was ${used.mode})`]),
    ...listNames('tools added', tools.added),
    ...listNames('tools no longer there', tools.removed),
    ...listNames('instructions changed, as in the system prompt', edited),
    ...listNames('new instructions, in the system prompt', files.added),
    ...listNames('instructions no longer in force', files.removed),
    ...listNames('skills changed; load them again before you rely on them', editedIn(oldSkills, skills)),
    ...listNames('skills added, described in the system prompt', offered.added),
    ...listNames('skills no longer there', offered.removed),
  ];
}

function editedIn(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...after.keys()].filter((name) => before.has(name) && before.get(name) !== after.get(name));
}

interface EditedText {
  readonly name: string;
  readonly texts: Promise<readonly (string | undefined)[]>;
}

/** The diff of each edited text, if it fits. The system prompt has the whole instructions, the files the skills. */
async function differencesIn({ used, config, instruction, skill }: DeliveryPoint): Promise<string[]> {
  const edited = [
    ...editedTexts(used.instructions ?? [], config.instructions, instruction),
    ...editedTexts(used.skills ?? [], config.skills, skill),
  ];
  const shown: string[] = [];
  let room = SHOWN.characters;
  for (const { name, texts } of edited) {
    const [old, now] = await texts;
    if (old === undefined || now === undefined) continue;
    const difference = differenceOf(old, now, { lines: SHOWN.lines, characters: room });
    if (difference === undefined) continue;
    const { added, removed, diff } = difference;
    const counts = `${printPath(name)} (+${added} −${removed})`;
    shown.push(diff === undefined ? `${counts}: too much to show here.` : `${counts}:\n${diff}`);
    room -= diff?.length ?? 0;
  }
  return shown;
}

function editedTexts(
  before: RequestConfig['instructions'],
  after: RequestConfig['instructions'],
  textOf: (hash: string) => Promise<string | undefined>,
): EditedText[] {
  const [old, now] = [named(before), named(after)];
  return editedIn(old, now)
    .slice(0, NAMED)
    .map((name) => ({ name, texts: Promise.all([old.get(name) ?? '', now.get(name) ?? ''].map(textOf)) }));
}

function named(files: RequestConfig['instructions']): Map<string, string> {
  return new Map(files.map(({ name, hash }) => [name, hash]));
}

function compare(before: readonly string[], after: readonly string[]) {
  return {
    added: after.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !after.includes(one)),
  };
}

function listNames(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return [`${what}: ${names.slice(0, NAMED).map(printPath).join(', ')}${more}`];
}
