// Decides what an extension host does when its server dies, where the native module cannot be compiled: no more than
// VS Code does anyway, which is to look for the parent every second. Our own stop ends the whole tree.

export function start() {}

/** @param {number} [code] */
export function exit(code) {
  process.exit(code);
}
