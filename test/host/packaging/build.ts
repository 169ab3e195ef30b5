// Builds Earshot and reports why a build failed.
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../console/errors.mjs';
import { lastLines, runNode } from '../processes/runCommand.mjs';
import { repository } from '../setup.mjs';

/** @param flags of esbuild.mjs: none for development, `--tests` for the suites, `--production` for the package */
export async function build(...flags: readonly string[]): Promise<void> {
  const output = join(repository, flags.length > 0 ? '.build' : 'dist');
  try {
    await mkdir(output, { recursive: true });
    await access(repository, constants.W_OK);
  } catch {
    throw new UserError(
      `The folder ${repository} cannot be written to.`,
      'Earshot is built in its own folder: change the permissions, or copy it to a folder of your own.',
    );
  }
  const logFile = join(repository, '.build', 'build.log');
  const result = await runNode(process.execPath, [join(repository, 'esbuild.mjs'), ...flags], {
    cwd: repository,
    logFile,
  });
  if (result.exitCode === 0) return;
  throw new UserError('Earshot could not be built.', `Fix the errors above. The whole log: ${logFile}`, {
    // esbuild has printed the errors before it throws; its stack trace adds nothing.
    details: lastLines(result.output.split(/\n\S*esbuild\/lib\/main\.js:\d+\n/)[0] ?? '', 30),
  });
}
