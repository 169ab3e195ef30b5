// Installs programs that some tests need. If one cannot be installed, it is named and its tests are skipped.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { canUseApt, installPackages } from './apt.mjs';

/** Debian packages, each with the program that shows that it is installed. */
const programs = Object.entries({
  'nats-server': 'nats-server',
  'netcat-openbsd': 'nc.openbsd',
  faketime: 'faketime',
  'openssh-server': 'sshd',
  'fiu-utils': 'fiu-run',
  gh: 'gh',
});

/**
 * @param {import('../console/report.mjs').Reporter} report
 * @returns {Promise<void>}
 */
export async function providePrograms(report) {
  const missing = missingPackages();
  if (missing.length === 0) return;
  if (await canUseApt()) {
    await report.step('Programs for tests', async (say) => {
      // One by one: a package that is not available must not prevent the others.
      for (const name of missing) await installPackages([name], say);
    });
  }
  const left = missingPackages();
  if (left.length > 0)
    report.line(`Tests that need ${left.join(', ')} are skipped. To run them, install these packages.`);
}

function missingPackages() {
  // A user's PATH does not contain the folder of servers.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].filter((folder) => folder !== '');
  return programs
    .filter(([, program]) => !folders.some((folder) => existsSync(join(folder, program))))
    .map(([name]) => name);
}
