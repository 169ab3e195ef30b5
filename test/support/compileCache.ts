// The folder for compiled code of programs that tests start from TypeScript: the second start takes half the time of
// the first.
import { resolve } from 'node:path';

export const compileCache = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../.build/compiled') };
