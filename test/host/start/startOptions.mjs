// Parses the command line of `npm start` and refuses invalid options before anything else happens.
import { readFile, realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { errorCode } from '../install/cache.mjs';
import { UserError } from '../console/errors.mjs';

export const startHelp = `npm start [-- OPTIONS]: opens VS Code with Earshot in your browser.

  --folder DIR      the folder to work on, whose state is kept; default: a temporary copy of a small sample
  --port N          the port to listen on; default: a free one
  --settings FILE   VS Code settings (JSON) on top of the defaults
  --base-url URL    address of the model's endpoint: the setting earshot.baseUrl
  --model NAME      name of the model: the setting earshot.model
  --no-open         do not open the browser
  --help            this text

Ctrl+C ends it.`;

/**
 * @typedef {object} StartOptions
 * @property {string | undefined} folder absolute
 * @property {number | undefined} port
 * @property {Record<string, unknown>} settings the settings from the command line, on top of the defaults
 * @property {boolean} open
 */

/** @typedef {Partial<Record<'folder' | 'port' | 'settings' | 'base-url' | 'model', string>> & { 'no-open'?: true }} GivenOptions */

const withValue = /** @type {const} */ (['folder', 'port', 'settings', 'base-url', 'model']);

/**
 * @param {readonly string[]} args
 * @returns {Promise<StartOptions>}
 */
export async function readStartOptions(args) {
  const given = parseStartOptions(args);
  const port = readPort(given.port);
  if (port !== undefined) await requireFreePort(port);
  return {
    folder: given.folder === undefined ? undefined : await readFolder(given.folder),
    port,
    settings: {
      ...(given.settings === undefined ? {} : await readSettings(given.settings)),
      ...(given['base-url'] === undefined ? {} : { 'earshot.baseUrl': readUrl(given['base-url']) }),
      ...(given.model === undefined ? {} : { 'earshot.model': given.model }),
    },
    open: given['no-open'] === undefined,
  };
}

/**
 * @param {readonly string[]} args
 * @returns {GivenOptions}
 */
function parseStartOptions(args) {
  /** @type {GivenOptions} */
  const given = {};
  for (let index = 0; index < args.length; index++) {
    const [, name = '', inline] = /^--([^=]+)(?:=(.*))?$/s.exec(args[index] ?? '') ?? [];
    const key = withValue.find((candidate) => candidate === name);
    if (key !== undefined) {
      if (given[key] !== undefined) throw usageError(`The option --${name} is given twice.`);
      const value = inline ?? args[++index];
      if (value === undefined || value === '' || (inline === undefined && value.startsWith('--'))) {
        throw usageError(`The option --${name} needs a value.`);
      }
      given[key] = value;
    } else if (name === 'no-open' && inline === undefined) {
      given['no-open'] = true;
    } else {
      throw usageError(`Unknown option: ${args[index]}`);
    }
  }
  return given;
}

/** @param {string} message */
function usageError(message) {
  return new UserError(message, '`npm start -- --help` lists the options. (npm passes on what follows `--`.)', {
    exitCode: 2,
  });
}

/**
 * @param {string | undefined} text
 * @returns {number | undefined}
 */
function readPort(text) {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw usageError(`--port ${text}: a port is a number from 1 to 65535.`);
  return port;
}

/** @param {number} port */
async function requireFreePort(port) {
  const problem = await portProblem(port);
  if (problem === undefined) return;
  const nextStep = 'Choose another with --port N, or leave --port out to get a free one.';
  if (problem === 'EADDRINUSE') throw new UserError(`Port ${port} is in use by another program.`, nextStep);
  throw new UserError(`Port ${port} cannot be used (${problem}).`, nextStep);
}

/**
 * @param {number} port
 * @returns {Promise<string | undefined>} the error's code if nothing can listen there
 */
export function portProblem(port) {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', (error) => done(errorCode(error)));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(undefined)));
  });
}

/**
 * @param {string} text
 * @returns {Promise<string>}
 */
async function readFolder(text) {
  // npm runs this script in the package's folder; the user's paths are relative to the folder in which npm was called.
  const path = relativeToCaller(text);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw usageError(`--folder ${text}: there is no such folder (${path}).`);
  if (!found.isDirectory()) throw usageError(`--folder ${text}: ${path} is not a folder.`);
  return realpath(path);
}

/**
 * @param {string} text
 * @returns {Promise<Record<string, unknown>>}
 */
async function readSettings(text) {
  const path = relativeToCaller(text);
  const content = await readFile(path, 'utf8').catch((error) => {
    throw usageError(`--settings ${text}: ${path} cannot be read (${errorCode(error)}).`);
  });
  /** @type {unknown} */
  let settings;
  try {
    settings = JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw usageError(`--settings ${text}: ${path} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw usageError(`--settings ${text}: ${path} must contain a JSON object of settings.`);
  }
  return { ...settings };
}

/**
 * @param {string} text
 * @returns {string}
 */
function readUrl(text) {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw usageError(`--base-url ${text}: an address such as http://127.0.0.1:11434/v1 is needed.`);
  }
  return text;
}

/** @param {string} path */
function relativeToCaller(path) {
  return resolve(process.env['INIT_CWD'] ?? '.', path);
}
