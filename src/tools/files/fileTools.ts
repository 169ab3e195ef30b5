// The tools for files, in the order in which a model is told of them.
import { type Tool } from '../../core/ports/ports.ts';
import { applyPatchTool } from './applyPatch.ts';
import { deleteFileTool } from './deleteFile.ts';
import { editFileTool } from './editFile.ts';
import { listFilesTool } from './listFiles.ts';
import { moveFileTool } from './moveFile.ts';
import { readFileTool } from './readFile.ts';
import { writeFileTool } from './writeFile.ts';

export const fileTools: readonly Tool[] = [
  readFileTool,
  listFilesTool,
  editFileTool,
  applyPatchTool,
  writeFileTool,
  moveFileTool,
  deleteFileTool,
];
