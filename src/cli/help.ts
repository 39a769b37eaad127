import { type AddHelpTextContext, type AddHelpTextPosition, Command, Help, type HelpConfiguration } from "commander";
import { wrapText } from "./text/width.ts";

/** Longer lines are hard to read, however wide the terminal is. */
const COLUMNS_MAX = 100;
const COLUMNS_DEFAULT = 80;
/** A description beside its option has this much room at least; otherwise it stands below. */
const DESCRIPTION_MIN = 28;

/** Columns of a help text: the terminal's, within what can be read. */
export function helpColumns(output: { readonly isTerminal: boolean; readonly columns: number }): number {
  return output.isTerminal ? Math.min(output.columns, COLUMNS_MAX) : COLUMNS_DEFAULT;
}

/** How the lists of a help text are set: on a narrow terminal the description stands under its option. */
export const HELP_LAYOUT: HelpConfiguration = {
  minWidthToWrap: 16,
  // Every command has options: saying so on each line tells nothing.
  subcommandTerm: (command) => Help.prototype.subcommandTerm.call(new Help(), command).replace(" [options]", ""),
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? COLUMNS_DEFAULT;
    if (description === "" || width - termWidth - 4 >= DESCRIPTION_MIN)
      return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
    return [`  ${term}`, ...wrapText(description, width - 6).map((line) => `      ${line}`)].join("\n");
  },
};

/**
 * A command whose text behind the lists fits the terminal: paragraphs, parted by empty lines, are wrapped; lines that
 * are indented (examples, commands to paste) stay as they are.
 */
export class FittedCommand extends Command {
  override createCommand(name?: string): Command {
    return new FittedCommand(name);
  }

  override addHelpText(position: AddHelpTextPosition, text: string | ((context: AddHelpTextContext) => string)): this {
    return super.addHelpText(position, (context) => {
      const columns = this.configureOutput().getOutHelpWidth?.() ?? COLUMNS_DEFAULT;
      return wrapParagraphs(typeof text === "string" ? text : text(context), columns);
    });
  }
}

function wrapParagraphs(text: string, columns: number): string {
  const paragraphs = text.trim().split("\n\n");
  return `\n${paragraphs.map((paragraph) => wrapParagraph(paragraph, columns)).join("\n\n")}`;
}

function wrapParagraph(paragraph: string, columns: number): string {
  // A line break within running text is the source's, not the reader's.
  const joined = paragraph.replace(/(?<=^\S.*)\n(?=\S)/gm, " ");
  return joined
    .split("\n")
    .flatMap((line) => (line.startsWith(" ") ? [line] : wrapText(line, columns)))
    .join("\n");
}
