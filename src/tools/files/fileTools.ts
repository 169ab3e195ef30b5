// The file tools, in the order in which they are listed to the model.
import { type Tool } from '../../core/ports/ports.ts';
import { applyPatchTool } from './applyPatch.ts';
import { deleteFileTool } from './deleteFile.ts';
import { editFileTool } from './editFile.ts';
import { listFilesTool } from './listFiles.ts';
import { moveFileTool } from './moveFile.ts';
import { type ReadPdf } from './pdfText.ts';
import { createReadFileTool } from './readFile.ts';
import { writeFileTool } from './writeFile.ts';

export function createFileTools(readPdf?: ReadPdf): readonly Tool[] {
  return [
    createReadFileTool(readPdf),
    listFilesTool,
    editFileTool,
    applyPatchTool,
    writeFileTool,
    moveFileTool,
    deleteFileTool,
  ];
}
