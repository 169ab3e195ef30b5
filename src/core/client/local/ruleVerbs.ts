// The local verbs about the user's permanent approvals.
import { failed, succeeded } from '../../../base/errors.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';

export function createRuleVerbs({
  permissions,
}: Pick<LocalPorts, 'permissions'>): Pick<LocalVerbs, 'list_rules' | 'remove_rule'> {
  return {
    list_rules: async () => succeeded({ data: permissions.rules }),
    remove_rule: async ({ rule: wanted, conversation }) => {
      const rule = permissions.rules.find((one) => one.rule === wanted && one.conversation === conversation);
      if (rule === undefined) return failed('not_found', 'rule: there is no such rule. List the rules again.');
      await permissions.remove(rule);
      return succeeded({});
    },
  };
}
