// Permanent approvals in memory, with the rules that the test gives them for every conversation.
import { Emitter } from '../../../src/base/emitter.ts';
import { type AlwaysRule, type Permissions } from '../../../src/core/ports/storage.ts';

export function createMemoryPermissions(...given: readonly string[]): Permissions {
  let rules: readonly AlwaysRule[] = given.map((rule) => ({ rule, label: rule }));
  const changed = new Emitter<void>((error) => {
    throw error;
  });
  const set = async (next: readonly AlwaysRule[]) => {
    rules = next;
    changed.fire();
  };
  return {
    get rules() {
      return rules;
    },
    onDidChange: changed.event,
    has: async (rule, conversation) =>
      rules.some((one) => one.rule === rule && (one.conversation ?? conversation) === conversation),
    add: (rule) => set([...rules, rule]),
    remove: (rule) => set(rules.filter((one) => one !== rule)),
  };
}
