// Where programs that tests start from their TypeScript keep it compiled: the second start costs half of the first.
import { resolve } from 'node:path';

export const compileCache = { NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../.build/compiled') };
