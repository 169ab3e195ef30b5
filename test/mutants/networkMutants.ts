// Deliberate faults in what is sent to and accepted from other programs and hosts, each with the tests of which at
// least one must fail.
import { type Mutant } from './mutate.ts';

export const networkMutants: readonly Mutant[] = [
  {
    name: 'the library’s own headers are sent to the endpoint',
    file: 'src/models/openai/openaiRequest.ts',
    symbol: 'sendOnlyAllowed',
    find: '{ ...init, headers }',
    replace: '{ ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } }',
    tests: ['test/unit/environment.test.ts'],
  },
  {
    name: 'a key of the environment replaces the configured one',
    file: 'src/models/openai/openaiRequest.ts',
    symbol: 'sendOnlyAllowed',
    find: 'authorization: `Bearer ${key}`,',
    replace: "authorization: new Headers(init.headers).get('authorization') ?? '',",
    tests: ['test/unit/environment.test.ts'],
  },
];
