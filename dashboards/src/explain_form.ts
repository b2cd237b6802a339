// What may be asked of the planners, as the server describes it, and what has been asked: pure. No
// mechanism is known here by name.

export interface Option {
  name: string;
  option: string;  // "--bytes"; without dashes where its place says it
  help: string;
  unit: "number" | "bytes" | "seconds" | "flag" | "choice" | "numbers" | "text";
  least: number;
  most: number | null;
  required: boolean;
  usual: unknown;
  choices: string[];
  surroundings: boolean;
}
export interface Command { command: string; help: string; example: string; baseline: string | null; takes_path: boolean; options: Option[] }
export interface Axis { option: string; values: string[] }
export interface DecisionTable { command: string; x: Axis; y: Axis; choices: Axis[] }
export interface Questions { commands: Command[]; tables: DecisionTable[] }

export type Asked = Record<string, string>;

/** The words of a command line, as a shell reads those that are written here. */
export function words(line: string): string[] {
  const found: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/'([^']*)'|(\S+)/g)) found.push(quoted ?? plain);
  return found;
}

/** What a command's example asks. */
export function exampleOf(command: Command): Asked {
  const asked: Asked = {};
  const placed = command.options.filter((one) => !one.option.startsWith("-"));
  const line = words(command.example);
  for (let i = 0; i < line.length; ++i) {
    const option = command.options.find((one) => one.option === line[i]);
    if (option?.unit === "flag") asked[option.name] = "true";
    else if (option) asked[option.name] = line[++i] ?? "";
    else if (placed.length > 0) asked[placed.shift()!.name] = line[i];
  }
  return asked;
}

/** What of an address a command has options for; of nothing, its example. */
export function askedOf(command: Command, query: Record<string, string>): Asked {
  const known = new Set([...command.options.map((one) => one.name), ...(command.takes_path ? ["path"] : [])]);
  const asked = Object.fromEntries(Object.entries(query).filter(([name, value]) => known.has(name) && value !== ""));
  return command.options.some((one) => one.name in asked) ? asked : { ...exampleOf(command), ...asked };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command line that asks the same. */
export function commandLine(command: Command, model: string, asked: Asked): string {
  const placed: string[] = [];
  const named: string[] = [];
  for (const option of command.options) {
    const value = asked[option.name];
    if (value === undefined || value === "" || (option.unit === "flag" && value !== "true")) continue;
    if (!option.option.startsWith("-")) placed.push(quoted(value));
    else named.push(option.unit === "flag" ? option.option : `${option.option} ${quoted(value)}`);
  }
  if (command.takes_path && asked.path) named.push(`--path ${quoted(asked.path)}`);
  return ["stripline explain", command.command, model, ...placed, ...named].join(" ");
}

/** What an option is set to where nothing is said, for people; "" where that follows from others. */
export function usualText(option: Option): string {
  const { usual } = option;
  if (typeof usual === "number" || typeof usual === "string") return String(usual);
  return "";
}
