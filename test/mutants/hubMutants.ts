// Deliberate faults in the hub, each with the tests of which at least one must fail. Some tests need nats-server.
import { type Mutant } from './mutate.ts';

export const hubMutants: readonly Mutant[] = [
  {
    name: 'gaps in the stream are skipped',
    file: 'src/hub/nats/inbox.ts',
    symbol: 'Inbox.#fillUpTo',
    find: 'while (this.#taken < last) {',
    replace: 'this.#taken = Math.max(this.#taken, last);\n    while (this.#taken < last) {',
    tests: ['test/unit/hub/nats/outages.test.ts'],
  },
  {
    name: 'messages that the server has lost are not published again',
    file: 'src/hub/nats/streamCheck.ts',
    symbol: 'checkPublished',
    find: 'if (one.start < state.sent(one.author)) state.setSent(one.author, one.start);',
    replace: '',
    tests: ['test/unit/hub/nats/outages.test.ts'],
  },
  {
    name: 'different messages with numbers that were already received are skipped',
    file: 'src/hub/nats/streamCheck.ts',
    symbol: 'checkReceivedPart',
    find: 'state.setPosition({ seq: 0, time: 0 });',
    replace: '',
    tests: ['test/unit/hub/nats/streamCheck.test.ts'],
  },
  {
    name: 'anybody may use a claimed name',
    file: 'src/hub/nats/receivedRecord.ts',
    symbol: 'claimAgainst',
    find: 'if (claim?.machine === machine) return undefined;',
    replace: 'return undefined;',
    tests: ['test/unit/hub/nats/claimValue.test.ts', 'test/unit/hub/nats/joined.test.ts'],
  },
  {
    name: 'an edit that arrives twice is applied twice',
    file: 'src/hub/messageIndex.ts',
    symbol: 'MessageIndex.#change',
    find: ' === 0) return false;',
    replace: ' < 0) return false;',
    tests: ['test/unit/hub/messageIndex.test.ts'],
  },
  {
    name: 'a restarted hub forgets its agents',
    file: 'src/hub/hub.ts',
    symbol: 'Hub.constructor',
    find: 'if (known !== undefined) directory.restore(known);',
    replace: '',
    tests: ['test/unit/hub/recovery.test.ts'],
  },
];
