// Faults of program plugins that the suite must find, with the tests that must fail because of each.
import { type Mutant } from './mutate.ts';

export const pluginMutants: readonly Mutant[] = [
  {
    name: 'the key is not masked in lines to plugins',
    file: 'src/plugins/connection.ts',
    symbol: 'PluginConnection.send',
    find: 'maskKey(this.#deps.codec.encode(message), key)',
    replace: 'this.#deps.codec.encode(message)',
    tests: ['test/unit/plugins/conformance.test.ts'],
  },
  {
    name: 'a feed repeats events when its source changes',
    file: 'src/plugins/streams/feed.ts',
    symbol: 'Feed.#offer',
    find: 'event.seq <= this.#lastSeq || this.#ended',
    replace: 'this.#ended',
    tests: ['test/unit/plugins/since.test.ts', 'test/unit/plugins/otherWindows.test.ts'],
  },
  {
    name: 'a question overtakes the event that asks it',
    file: 'src/plugins/streams/eventStream.ts',
    symbol: 'EventStream.#flush',
    find: 'this.#later.filter(({ after }) => after <= this.#cursor)',
    replace: 'this.#later',
    tests: ['test/unit/plugins/conformance.test.ts'],
  },
  {
    name: 'a plugin without the right answers',
    file: 'src/plugins/session.ts',
    symbol: 'PluginSession.mayAnswer',
    find: '!this.#ended && this.#deps.mayAnswer()',
    replace: '!this.#ended',
    tests: ['test/unit/plugins/conformance.test.ts'],
  },
  {
    name: 'a changed file of an approved program is not noticed',
    file: 'src/node/fingerprint.ts',
    symbol: 'approvalKey',
    find: 'JSON.stringify([name, args, folder, files])',
    replace: 'JSON.stringify([name, args, folder])',
    tests: ['test/unit/plugins/pluginHost.test.ts'],
  },
  {
    name: 'time passes for a question although a view shows it',
    file: 'src/plugins/streams/questions.ts',
    symbol: 'Questions.#check',
    find: 'if (waitsForPerson) open.since = clock.now();',
    replace: '',
    tests: ['test/unit/plugins/twoPluginsAndView.test.ts'],
  },
];
