// A ProducerHost for tests of one producer: no calls, globs or conversations unless a test sets them.
import { Emitter } from '../../../src/base/emitter.ts';
import { type ActiveCall, type ProducerHost } from '../../../src/core/ports/producers.ts';

export interface TestHost extends ProducerHost {
  readonly broken: unknown[];
  calls: readonly ActiveCall[];
  globs: readonly string[];
  conversations: readonly string[];
  readonly titles: Map<string, string>;
  readonly changed: Emitter<void>;
}

export function createTestHost(): TestHost {
  const broken: unknown[] = [];
  const changed = new Emitter<void>((error) => broken.push(error));
  const host: TestHost = {
    broken,
    calls: [],
    globs: [],
    conversations: [],
    titles: new Map(),
    changed,
    broke: (error) => broken.push(error),
    live: {
      ids: () => host.conversations,
      title: (conversation) => host.titles.get(conversation) ?? '',
      resources: () => new Set<string>(),
      globs: () => new Set(host.globs),
      pending: () => undefined,
      lines: () => new Map(),
      linesSearched: async () => undefined,
      events: () => undefined,
      subscribeEvents: async () => undefined,
      mayWake: () => false,
      changeEvents: async () => undefined,
      scripts: () => undefined,
      commits: () => undefined,
      followCommit: async () => undefined,
      isChanging: () => false,
      takeOverwritten: () => [],
      callsSince: (time) => host.calls.filter(({ ended = Number.POSITIVE_INFINITY }) => ended >= time),
      onDidChange: (listener) => changed.event(listener),
    },
  };
  return host;
}
