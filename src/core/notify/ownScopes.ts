// The subscriptions of a conversation that follow from its log.
import { type Disposable } from '../../base/disposable.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { fileScope, handleScope, nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { type ConversationLog } from '../conversation/log.ts';

/** Subscribes to scopes that follow from the log: files seen, handles started, tasks run, globs watched. */
export class OwnScopes implements Disposable {
  readonly #log: ConversationLog;
  readonly #subscribe: (scope: string) => Disposable;
  readonly #held = new Map<string, Disposable>();
  #globs: ReadonlySet<string> = new Set();
  #handles: ReadonlySet<string> = new Set();
  #tasks: ReadonlySet<string> = new Set();
  #servers: ReadonlySet<string> = new Set();
  #resources: ReadonlySet<string> = new Set();

  constructor(log: ConversationLog, subscribe: (scope: string) => Disposable) {
    this.#log = log;
    this.#subscribe = subscribe;
    this.refresh();
  }

  /** After a reset the log may have fewer scopes than before. */
  refresh(): void {
    const { seen, watches } = this.#log.state;
    const files = new Set([...seen.paths()].map(fileScope));
    for (const scope of [...this.#held.keys()])
      if (nameInScope('file', scope) !== undefined && !files.has(scope)) this.#remove(scope);
    for (const scope of files) this.#add(scope);
    this.#applyActs(watches);
  }

  /** The cost depends on the event, not on the number of seen files. */
  apply(event: LogEvent): void {
    if ('seen' in event) for (const { path } of event.seen ?? []) this.#add(fileScope(path));
    this.#applyActs(this.#log.state.watches);
  }

  dispose(): void {
    for (const scope of [...this.#held.keys()]) this.#remove(scope);
  }

  #applyActs({ globs, handles, tasks, servers, resources }: ConversationLog['state']['watches']): void {
    this.#globs = this.#exchange(this.#globs, globs, (glob) => scopeOf('glob', glob));
    this.#handles = this.#exchange(this.#handles, handles, handleScope);
    this.#tasks = this.#exchange(this.#tasks, tasks, (task) => scopeOf('task', task));
    this.#servers = this.#exchange(this.#servers, servers, (server) => scopeOf('mcp', server));
    this.#resources = this.#exchange(this.#resources, resources, (name) => scopeOf('resource', name));
  }

  /** A set that changes is replaced by a new object, so usually there is nothing to do. */
  #exchange(
    before: ReadonlySet<string>,
    now: ReadonlySet<string>,
    toScope: (name: string) => string,
  ): ReadonlySet<string> {
    if (before === now) return now;
    for (const one of before) if (!now.has(one)) this.#remove(toScope(one));
    for (const one of now) this.#add(toScope(one));
    return now;
  }

  #add(scope: string): void {
    if (!this.#held.has(scope)) this.#held.set(scope, this.#subscribe(scope));
  }

  #remove(scope: string): void {
    this.#held.get(scope)?.dispose();
    this.#held.delete(scope);
  }
}
