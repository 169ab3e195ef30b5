// The path of the ripgrep in the copy of VS Code that tests use.
import { join } from 'node:path';
import { setUp } from '../../host/setup.mjs';

export async function shippedRipgrep(): Promise<string> {
  const { vscode } = await setUp(['vscode']);
  const platform = `${process.platform}-${process.arch}`;
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  return join(vscode, 'node_modules', '@vscode', 'ripgrep-universal', 'bin', platform, name);
}
