// Deliberate faults in git, checkpoints and writes of files, each with the tests of which at least one must fail.
import { type Mutant } from './mutate.ts';

export const fileMutants: readonly Mutant[] = [
  {
    name: 'git files outside the repository are read',
    file: 'src/node/files/gitFolder.ts',
    symbol: 'readGitFile',
    find: 'outside ? failed',
    replace: 'outside && name === "" ? failed',
    tests: ['test/unit/producers/git/hostileGit.test.ts'],
  },
  {
    name: 'a reference may lead out of the repository',
    file: 'src/node/files/gitFolder.ts',
    symbol: 'isRef',
    find: "parts[0] === 'refs' && ",
    replace: "parts[0] !== '' || ",
    tests: ['test/unit/producers/git/hostileGit.test.ts'],
  },
  {
    name: 'git fetches missing objects',
    file: 'src/node/runGit.ts',
    symbol: 'QUIET',
    find: "GIT_ALLOW_PROTOCOL: '',\n  GIT_NO_LAZY_FETCH: '1',",
    replace: "GIT_ALLOW_PROTOCOL: 'ext',",
    tests: ['test/unit/producers/git/hostileGit.test.ts'],
  },
  {
    name: 'git has no time limit',
    file: 'src/node/runGit.ts',
    symbol: 'runGit',
    find: 'stop(`not ready after ${milliseconds / 1000} s`)',
    replace: 'undefined',
    tests: ['test/unit/producers/git/hostileGit.test.ts'],
  },
  {
    name: 'a folder that a repository above ignores is not captured',
    file: 'src/storage/checkpoints/checkpointPlace.ts',
    symbol: 'preparePlace',
    find: "prefix === '' || !(await ignoresEverything(place, repository, signal))",
    replace: 'repository.root !== ""',
    tests: ['test/unit/storage/checkpoints/gitsTopLevel.test.ts'],
  },
  {
    name: 'a broken .git hides the folder from the checkpoint',
    file: 'src/storage/checkpoints/checkpointPlace.ts',
    symbol: 'findRepository',
    find: "if (await exists(join(inner, '.git'))) return undefined;",
    replace: '',
    tests: ['test/unit/storage/checkpoints/gitsTopLevel.test.ts'],
  },
  {
    name: 'a capture by another window is not noticed',
    file: 'src/storage/checkpoints/checkpointGit.ts',
    symbol: 'GitFolder.#takeWith',
    find: 'this.#last?.index !== identity',
    replace: 'this.#last === undefined',
    tests: ['test/unit/storage/checkpoints/gitsTopLevel.test.ts'],
  },
];
