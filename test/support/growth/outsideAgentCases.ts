// Growth cases: what other agents pass to their hooks, and the settings files that our hook is added to.
import { parseJsoncTree } from '../../../src/base/json/jsoncTree.ts';
import { readHookInput } from '../../../src/plugins/hook/hookInput.ts';
import { withHook } from '../../../src/plugins/hook/hookSettings.ts';
import { agentNameOf } from '../../../src/plugins/notificationsMcp/agentName.ts';
import { type GrowthCases, over } from './cases.ts';

const outsideAgents: GrowthCases = {
  ...over('readHookInput', (text) => readHookInput(text), ['[', '{"a":', '"', ' ', '\\']),
  ...over(
    'readHookInput, a patch',
    (text) =>
      readHookInput(
        JSON.stringify({
          ...{ session_id: 's', cwd: '/', hook_event_name: 'PostToolUse', tool_name: 'apply_patch' },
          tool_input: { command: text },
        }),
      ),
    ['*** Update File: a\n', '*** ', '\r', ' '],
  ),
  ...over('parseJsoncTree', (text) => attempt(() => parseJsoncTree(text)), [
    '[',
    '{"a":',
    '/* ',
    '// ',
    '/',
    ',',
    '1',
    '"\\',
    ' ',
  ]),
  ...over(
    'withHook',
    (text) => withHook(`{"a": [${text}]}`, { events: { PostToolUse: [{ command: 'notifications-hook' }] } }),
    ['1,', ' ', '/**/', '\n', '{},'],
  ),
  ...over('agentNameOf', (text) => agentNameOf(text), ['-', 'a-', ' ', 'A']),
};

export const outsideAgentCases = { outsideAgents };

function attempt(run: () => unknown): void {
  try {
    run();
  } catch {
    // Invalid input is expected; only the time counts.
  }
}
