// Reports in one line what changed since the model was told: model, mode, tools, instructions, skills, folders, day.
import { toDisposable } from '../base/disposable.ts';
import { printPath } from '../base/printPath.ts';
import { type Producer } from '../core/ports/ports.ts';
import { type DeliveryPoint, type RequestConfig } from '../core/ports/producers.ts';

const KIND = { source: 'config', name: 'changed' } as const;
const NAMED = 12;
const OWN_MESSAGE = 'in a message of its own; read the file if there is none';

export function createConfigProducer(): Producer {
  return {
    name: 'config',
    start: () => toDisposable(() => undefined),
    sample: async (point: DeliveryPoint) => {
      const changes = describeChanges(point.used, point.config);
      const sample = { kind: KIND, subject: 'config' };
      if (changes.length === 0) return [sample];
      const message = `Since your last answer: ${changes.join('; ')}.`;
      return [{ ...sample, draft: { level: 'info', message, origin: 'host' } }];
    },
  };
}

/** Parts that the model was not told are not compared. */
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
    ...(used.mode === undefined || used.mode === now.mode ? [] : [describeMode(now.mode, used.mode)]),
    ...(used.date === undefined || used.date === now.date ? [] : [`a new day began: it is ${now.date}`]),
    ...describeFolders(used.folders ?? now.folders, now.folders),
    ...(now.parent === undefined || isSameParent(used.parent, now.parent)
      ? []
      : [`${now.parent.tool} reaches the agent that started you as ${printPath(now.parent.name)}`]),
    ...listNames('tools added', tools.added),
    ...listNames('tools no longer there', tools.removed),
    ...listNames(`instructions changed (${OWN_MESSAGE})`, edited),
    ...listNames(`new instructions (${OWN_MESSAGE})`, files.added),
    ...listNames('instructions no longer in force', files.removed),
    ...listNames('skills changed; load them again before you rely on them', editedIn(oldSkills, skills)),
    ...listNames('skills added', offered.added),
    ...listNames('skills no longer there', offered.removed),
  ];
}

function describeMode(now: string, before: string): string {
  const meaning = now === 'plan' ? 'only calls that read are run; propose what to do and change nothing' : 'all calls';
  return `the mode is ${now} (it was ${before}): ${meaning}`;
}

function describeFolders(before: readonly string[], now: readonly string[]): string[] {
  const { added, removed } = compare(before, now);
  return [...listNames('workspace folders added', added), ...listNames('workspace folders removed', removed)];
}

function isSameParent(before: RequestConfig['parent'], now: RequestConfig['parent']): boolean {
  return before?.name === now?.name && before?.tool === now?.tool;
}

function editedIn(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...after.keys()].filter((name) => before.has(name) && before.get(name) !== after.get(name));
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
