// Faults that the suite must find: each is one change of the source, with the tests that must fail because of it.

export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** At least one test in these files must fail. */
  readonly tests: readonly string[];
}

const INTERLEAVINGS = 'test/unit/core/conversation/interleavings.test.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'no sync',
    file: 'src/storage/eventFile.ts',
    find: 'await this.#file.sync();\n        this.#durableLength',
    replace: 'this.#durableLength',
    tests: ['test/unit/storage/powerLoss.test.ts'],
  },
  {
    name: 'no sync by the kernel',
    file: 'src/node/fileSystem.ts',
    find: ' | SYNCED_WRITES;',
    replace: ';',
    tests: ['test/unit/node/fileSystem.test.ts'],
  },
  {
    name: 'no escape in a body',
    file: 'src/core/notify/format/xml.ts',
    find: ".replaceAll(']]>', ']]]]><![CDATA[>')",
    replace: '',
    tests: ['test/unit/core/notify/formats.test.ts'],
  },
  {
    name: 'no escape in an attribute',
    file: 'src/core/notify/format/xml.ts',
    find: '="${escape(String(value))}"',
    replace: '="${String(value)}"',
    tests: ['test/unit/core/notify/formats.test.ts'],
  },
  {
    name: 'no withdrawal',
    file: 'src/core/conversation/pending.ts',
    find: 'return this.#remove(new Set(event.ids));',
    replace: 'return;',
    tests: [INTERLEAVINGS],
  },
  {
    name: 'no lock',
    file: 'src/node/kernelLock.ts',
    find: 'BEGIN EXCLUSIVE',
    replace: 'BEGIN DEFERRED',
    tests: ['test/unit/node/kernelLock.test.ts'],
  },
  {
    name: 'everybody owns',
    file: 'src/core/conversation/opening.ts',
    find: 'if (lock === undefined || held !== undefined) {',
    replace: 'if (lock !== undefined || held === undefined) {',
    tests: ['test/walk/continueHere.test.ts'],
  },
  {
    name: 'cursor off by one, too low',
    file: 'src/core/agent/delivery.ts',
    find: 'through: pending.through,',
    replace: 'through: pending.through - 1,',
    tests: [INTERLEAVINGS],
  },
  {
    name: 'cursor off by one, too high',
    file: 'src/core/agent/delivery.ts',
    find: 'through: pending.through,',
    replace: 'through: pending.through + 1,',
    tests: [INTERLEAVINGS],
  },
  {
    name: 'coalescing that loses a count',
    file: 'src/core/notify/plan.ts',
    find: 'known.older.push(known.newest.id);',
    replace: '',
    tests: ['test/unit/core/notify/plan.test.ts', INTERLEAVINGS],
  },
  {
    name: 'filter at queueing',
    file: 'src/core/notify/queue.ts',
    find: '  const notification = { ...draft, id: ids.ulid(), message: bound(draft) };\n',
    replace:
      "  if (draft.level === 'info') return;\n  const notification = { ...draft, id: ids.ulid(), message: bound(draft) };\n",
    tests: [INTERLEAVINGS],
  },
  {
    name: 'what was folded before a failed write stays',
    file: 'src/core/conversation/log.ts',
    find: '    const read = await this.#file.mend();\n    this.#rebuild(read);\n',
    replace: '    await this.#file.mend();\n',
    tests: ['test/unit/storage/eventFile.test.ts'],
  },
  {
    name: 'half-written bytes are not taken back',
    file: 'src/storage/eventFile.ts',
    find: 'if (length < bytes.length) await file.truncate(length);',
    replace: '',
    tests: ['test/unit/storage/eventFile.test.ts'],
  },
  {
    name: 'a torn end is not cut off',
    file: 'src/storage/eventFile.ts',
    find: '      await file.truncate(read.length);\n',
    replace: '',
    tests: ['test/unit/storage/eventFile.test.ts', 'test/unit/storage/powerLoss.test.ts'],
  },
  {
    name: 'a snapshot is named before it is written',
    file: 'src/storage/snapshots.ts',
    find: '        await writing;\n',
    replace: '',
    tests: ['test/unit/storage/powerLoss.test.ts'],
  },
  {
    name: 'a follower does not notice bytes that were taken back',
    file: 'src/storage/followedFile.ts',
    find: 'if (!same) return this.#readAll();',
    replace: '',
    tests: ['test/unit/storage/followedFile.test.ts'],
  },
  {
    name: 'nobody looks again when a turn has ended',
    file: 'src/core/turns.ts',
    find: 'else if (failure === undefined) live.activator?.look();',
    replace: '',
    tests: ['test/unit/core/lostWakeUp.test.ts'],
  },
  {
    name: 'words that cut tools short ride their result too',
    file: 'src/core/agent/loop.ts',
    find: ' && !(cutShort && pending.texts.length > 0)',
    replace: '',
    tests: ['test/walk/userText.test.ts'],
  },
  {
    name: 'a compaction forgets what is still true',
    file: 'src/core/conversation/compact.ts',
    find: 'fact.seq <= through',
    replace: 'fact.seq > through',
    tests: ['test/unit/core/conversation/compact.test.ts'],
  },
  {
    name: 'a whole file is replaced although it changed',
    file: 'src/core/files/staleGuard.ts',
    find: "if (!seen.current) return changedSince(path, seen, now, 'Nothing was written.');",
    replace: '',
    tests: ['test/unit/tools/changing.test.ts'],
  },
  {
    name: 'a part that was read counts as the whole',
    file: 'src/core/files/staleGuard.ts',
    find: '  if (seen.part === undefined) return ALLOWED;',
    replace: '  return ALLOWED;',
    tests: ['test/unit/tools/changing.test.ts'],
  },
  {
    name: 'a changed file is moved or deleted',
    file: 'src/core/files/staleGuard.ts',
    find: 'if (seen === undefined || seen.current) return ALLOWED;',
    replace: 'return ALLOWED;',
    tests: ['test/unit/tools/changing.test.ts'],
  },
  {
    name: 'what a call has returned of a handle is told as well',
    file: 'src/core/tools/handleWords.ts',
    find: 'if (ids.length > 0) await log.append',
    replace: 'if (ids.length < 0) await log.append',
    tests: ['test/walk/await.test.ts', 'test/walk/toldOnce.test.ts'],
  },
  {
    name: 'what a call has returned of a handle is queued later',
    file: 'src/core/notify/queue.ts',
    find: 'if (log.state.handles.knows(draft)) return Promise.resolve();',
    replace: '',
    tests: ['test/walk/handlesRestart.test.ts'],
  },
  {
    name: 'a supervisor without an owner goes on',
    file: 'src/node/supervisor.ts',
    find: "this.#unowned = setTimeout(() => this.#stop({ cause: 'unowned' }), this.#spec.unownedMilliseconds);",
    replace: '',
    tests: ['test/unit/node/supervision.test.ts'],
  },
  {
    name: 'what left the group is not ended with a command',
    file: 'src/node/processTree.ts',
    find: 'if (started !== undefined) this.#told.set(pid, started);',
    replace: '',
    tests: ['test/unit/node/supervision.test.ts'],
  },
  {
    name: 'the end of a command is said before it is on disk',
    file: 'src/node/supervisor.ts',
    find: 'await writeJson(this.#deps.folder, stateFile, ended);',
    replace: '',
    tests: ['test/unit/node/supervision.test.ts'],
  },
  {
    name: 'a root that is harmless',
    file: 'src/core/agent/shell/wordPaths.ts',
    find: "const STREAMS = new Set(['/dev/null',",
    replace: "const STREAMS = new Set(['/', '/dev/null',",
    tests: ['test/unit/core/agent/commandApprovals.test.ts'],
  },
  {
    name: 'trim takes what shells keep',
    file: 'src/core/agent/shell/plainWords.ts',
    find: "const words = divide(trimBlanks(line, quoting.newlines ? ' \\t\\n' : ' \\t'), quoting);",
    replace: 'const words = divide(line.trim(), quoting);',
    tests: ['test/unit/core/agent/commandApprovals.test.ts'],
  },
  {
    name: 'a backslash that escapes nothing',
    file: 'src/core/agent/shell/posixWords.ts',
    find: "if (next !== '\\n') parts.push(textPart(next === '' ? '\\\\' : next, true));",
    replace: "if (next !== '\\n') parts.push(textPart(`\\\\${next}`, true));",
    tests: ['test/unit/core/agent/realShells.test.ts', 'test/unit/core/agent/commandApprovals.test.ts'],
  },
  {
    name: 'a dangling link that leads nowhere',
    file: 'src/node/resolvePath.ts',
    find: 'isSymbolicLink() ? await readlink(path) : undefined;',
    replace: 'isSymbolicLink() ? null : undefined;',
    tests: ['test/unit/node/resolvePath.test.ts'],
  },
  {
    name: 'a call that does what was not shown',
    file: 'src/core/tools/preview.ts',
    find: 'if (areSameEdits(edits, plan.edits)) return workspace.apply(edits, options);',
    replace: 'if (edits.length >= 0) return workspace.apply(edits, options);',
    tests: ['test/unit/core/agent/preview.test.ts'],
  },
];
