// Stores permanent approvals in a small file next to the conversations, out of the agent's reach.
import * as z from 'zod';
import { Emitter } from '../base/emitter.ts';
import { defined } from '../base/json/defined.ts';
import { parseObject } from '../base/json/outsideJson.ts';
import { type AlwaysRule, type Permissions } from '../core/ports/storage.ts';
import { createKeySet, type KeySetDeps } from './keySet.ts';

const ruleSchema = z.object({
  rule: z.string(),
  label: z.string(),
  conversation: z.string().optional(),
  since: z.string().optional(),
});

/** Until the file was read, and if it is unreadable, nothing is allowed and the user is asked. */
export function createPermissions(deps: Pick<KeySetDeps, 'files' | 'folder' | 'logger'>): Permissions & {
  readonly ready: Promise<void>;
} {
  const changed = new Emitter<void>((error) => deps.logger.error('a listener failed', error));
  const keys = createKeySet({ ...deps, name: 'approvals.json', field: 'rules', onDidChange: () => changed.fire() });
  const all = () => keys.keys('').flatMap((key) => readRule(key) ?? []);
  const isSame = (one: AlwaysRule, other: AlwaysRule) =>
    one.rule === other.rule && one.conversation === other.conversation;
  const keysOf = (rule: AlwaysRule) =>
    keys.keys('').filter((key) => {
      const stored = readRule(key);
      return stored !== undefined && isSame(stored, rule);
    });
  return {
    ready: keys.ready,
    get rules() {
      return all();
    },
    onDidChange: changed.event,
    has: async (rule, conversation) => {
      await keys.read();
      return all().some((one) => one.rule === rule && (one.conversation ?? conversation) === conversation);
    },
    add: async (rule) => {
      await keys.read();
      if (keysOf(rule).length === 0) await keys.set(JSON.stringify(rule), true);
    },
    remove: async (rule) => {
      await keys.read();
      for (const key of keysOf(rule)) await keys.set(key, false);
    },
  };
}

/** Earlier versions stored only the rule, for the whole folder, and remembered tasks by nothing but their names. */
function readRule(key: string): AlwaysRule | undefined {
  const stored = key.startsWith('{') ? ruleSchema.safeParse(parseObject(key)) : undefined;
  if (stored === undefined) return key.startsWith('task:') ? undefined : { rule: key, label: labelOf(key) };
  if (!stored.success) return undefined;
  const { rule, label, conversation, since } = stored.data;
  return { rule, label, ...defined({ conversation, since }) };
}

function labelOf(rule: string): string {
  const text = rule.slice(rule.indexOf(':') + 1);
  if (!rule.startsWith('words:')) return text;
  const words = z.array(z.string()).safeParse(parseObject(`{"words":${text}}`)?.['words']);
  return words.success ? words.data.join(' ') : text;
}
