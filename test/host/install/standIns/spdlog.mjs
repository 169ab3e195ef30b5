// Replaces VS Code's native log module, which would need a compiler: the same lines, levels and rotation, written
// synchronously.
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, extname } from 'node:path';

const levelNames = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];
const infoLevel = 2;

export class Logger {
  level = infoLevel;
  formatted = true;
  /** @type {number | undefined} */
  descriptor;
  size = 0;

  /**
   * @param {string} _type
   * @param {string} _name
   * @param {string} file
   * @param {number} maxSize in bytes
   * @param {number} maxFiles
   */
  constructor(_type, _name, file, maxSize, maxFiles) {
    this.file = file;
    this.maxSize = maxSize;
    this.maxFiles = maxFiles;
    mkdirSync(dirname(file), { recursive: true });
    this.#open();
  }

  #open() {
    this.descriptor = openSync(this.file, 'a');
    this.size = fstatSync(this.descriptor).size;
  }

  /**
   * @param {number} level
   * @param {string} message
   */
  #write(level, message) {
    if (level < this.level || this.descriptor === undefined) return;
    const text = this.formatted ? `${timestamp(new Date())} [${levelNames[level]}] ${message}\n` : message;
    const bytes = Buffer.from(text);
    try {
      if (this.size > 0 && this.size + bytes.length > this.maxSize) this.#rotate(this.descriptor);
      writeSync(this.descriptor, bytes);
      this.size += bytes.length;
    } catch {
      // A log that cannot be written must not crash the program.
    }
  }

  /** @param {number} descriptor */
  #rotate(descriptor) {
    const extension = extname(this.file);
    const stem = this.file.slice(0, this.file.length - extension.length);
    const numbered = (/** @type {number} */ index) => (index === 0 ? this.file : `${stem}.${index}${extension}`);
    closeSync(descriptor);
    for (let index = this.maxFiles - 1; index >= 0; index--) {
      if (existsSync(numbered(index))) renameSync(numbered(index), numbered(index + 1));
    }
    this.#open();
  }

  /** @param {string} message */
  trace(message) {
    this.#write(0, message);
  }

  /** @param {string} message */
  debug(message) {
    this.#write(1, message);
  }

  /** @param {string} message */
  info(message) {
    this.#write(2, message);
  }

  /** @param {string} message */
  warn(message) {
    this.#write(3, message);
  }

  /** @param {string} message */
  error(message) {
    this.#write(4, message);
  }

  /** @param {string} message */
  critical(message) {
    this.#write(5, message);
  }

  getLevel() {
    return this.level;
  }

  /** @param {number} level */
  setLevel(level) {
    this.level = level;
  }

  /** VS Code only sets the pattern implemented above. */
  setPattern() {
    this.formatted = true;
  }

  clearFormatters() {
    this.formatted = false;
  }

  flush() {}

  drop() {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

export const version = 0;

export function setLevel() {}

export function setFlushOn() {}

/**
 * @param {string} name
 * @param {string} file
 * @param {number} maxSize
 * @param {number} maxFiles
 */
export async function createRotatingLogger(name, file, maxSize, maxFiles) {
  return new Logger('rotating', name, file, maxSize, maxFiles);
}

/**
 * @param {string} name
 * @param {string} file
 * @param {number} maxSize
 * @param {number} maxFiles
 */
export async function createAsyncRotatingLogger(name, file, maxSize, maxFiles) {
  return new Logger('rotating_async', name, file, maxSize, maxFiles);
}

/** @param {Date} date */
function timestamp(date) {
  const pad = (/** @type {number} */ number, digits = 2) => String(number).padStart(digits, '0');
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return `${day} ${time}.${pad(date.getMilliseconds(), 3)}`;
}
