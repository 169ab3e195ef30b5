// What endpoints mean by a refusal: each names its next step, on all three APIs.
import { expect, test } from 'vitest';
import { failureAction } from '../../../src/core/conversation/failureActions.ts';
import { explain } from '../../../src/models/explain.ts';

const refusal = (status: number, message: string, code?: string) =>
  explain(Object.assign(new Error(message), { status, code }), { baseUrl: 'https://models.example/v1', model: 'm' });

test.each([
  ['OpenAI', 401, 'Incorrect API key provided', 'invalid_api_key', 'key_refused', 'set_api_key'],
  ['Google', 400, 'API key not valid. Please pass a valid API key.', undefined, 'key_refused', 'set_api_key'],
  ['Anthropic', 401, 'invalid x-api-key', undefined, 'key_refused', 'set_api_key'],
  ['OpenAI', 429, 'You exceeded your current quota', 'insufficient_quota', 'no_quota', 'choose_model'],
  [
    'Anthropic',
    400,
    'Your credit balance is too low to access the Anthropic API.',
    undefined,
    'no_quota',
    'choose_model',
  ],
  ['DeepSeek', 402, 'Insufficient Balance', undefined, 'no_quota', 'choose_model'],
  ['OpenAI', 404, 'The model `m` does not exist', 'model_not_found', 'not_found', 'choose_model'],
  ['DeepSeek', 400, 'Model Not Exist', undefined, 'not_found', 'choose_model'],
  ['OpenRouter', 400, 'm is not a valid model ID', undefined, 'not_found', 'choose_model'],
  [
    'OpenAI',
    403,
    'Country, region, or territory not supported',
    'unsupported_country_region_territory',
    'region_refused',
    'choose_model',
  ],
  ['Google', 400, 'User location is not supported for the API use.', undefined, 'region_refused', 'choose_model'],
] as const)('%s %d: %s', (_vendor, status, message, code, meaning, action) => {
  const { failure, retry } = refusal(status, message, code);
  expect(failure.code).toBe(meaning);
  expect(failure.nextStep).toContain('Earshot: ');
  expect(retry).toBeUndefined();
  expect(failureAction(failure).message.type).toBe(action);
});

test('a limit of the rate is retried, whatever it mentions', () => {
  expect(refusal(429, 'Rate limit reached for model m in your region')).toMatchObject({
    failure: { code: 'rate_limited' },
    retry: {},
  });
  expect(refusal(503, 'The model is not found on any server, no credits used')).toMatchObject({ retry: {} });
});
