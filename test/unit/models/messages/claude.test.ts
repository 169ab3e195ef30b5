// The table of Claude's models against the rules written out from Anthropic's documentation: what each model takes, and
// that no effort or turn of a conversation is refused by an endpoint with these rules.
import { afterEach, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { modelFacts } from '../../../../src/models/messages/claude.ts';
import { EFFORTS } from '../../../../src/protocol/settings.ts';
import { endAll } from '../../../support/endings.ts';
import { startAnthropic, textContent, thinkingBlock } from '../../../support/models/native/anthropicEndpoint.ts';
import { asking, last, request, user } from '../../../support/models/native/asking.ts';
import { CLAUDE_MODELS, claudeRules } from '../../../support/models/native/claudeRules.ts';

afterEach(endAll);

test.each(CLAUDE_MODELS)('%s: the table agrees with the documentation', (model) => {
  const { systemMessages, binding, temperature, efforts, messageEffort } = modelFacts(model);
  const { thinking: _, forcedCalls: __, ...documented } = claudeRules(model) ?? {};
  expect({ systemMessages, binding, temperature, efforts, messageEffort }).toEqual(documented);
});

test.each(CLAUDE_MODELS)('%s takes every effort, and a notification after each answer', async (model) => {
  const endpoint = await startAnthropic(() => ({ content: [thinkingBlock('Hm.'), textContent('Said.')] }));
  const ask = asking('messages', model, '/v1');
  const messages: ModelMessage[] = [{ ...user, block: { format: 'developer', text: 'Facts.' } }];
  for (const effort of [undefined, ...EFFORTS]) {
    const given = request({ messages: [...messages], ...(effort !== undefined && { effort }) });
    const finished = last(await ask(endpoint, given));
    if (finished?.type !== 'finished' || finished.origin === undefined) throw new Error(JSON.stringify(finished));
    const next: ModelMessage = { ...user, block: { format: 'developer', text: `More after ${effort}.` } };
    messages.push({ role: 'assistant', content: 'Said.', calls: [], origin: finished.origin }, next);
  }
  expect(endpoint.refusals).toEqual([]);
});
