// A window that starts a command under its supervisor and stays until it is killed. Prints when the command runs.
import { join } from 'node:path';
import { testSupervision } from './testSupervision.ts';

const [folder = '', run = '', command = ''] = process.argv.slice(2);
const programs = import.meta.dirname;
const supervision = testSupervision(folder, join(programs, 'supervisor.cjs'));
const started = await supervision.start({ conversation: 'c', run, command, folder, input: true });
process.stdout.write(started.ok ? 'running\n' : `${started.failure.message}\n`);
// Until it is killed.
setInterval(() => undefined, 1000);
