import { describe, expect, it } from "vitest";
import { questionWords } from "../../../src/segments/question-words.ts";

describe("the words of a question", () => {
  it("[S5] are those that tell something, as the index knows them", () => {
    expect(questionWords("Where did Alice's sister move to in May, and will Will go with her?")).toEqual([
      "alic",
      "sister",
      "move",
      "mai",
      "will",
      "will",
      "go",
    ]);
  });

  it("[S5] are all of them when none tells anything, so that a name made of such words is found", () => {
    expect(questionWords("The Who")).toEqual(["the", "who"]);
  });

  it("[S5] of other languages are left as they are", () => {
    expect(questionWords("Wo wohnt der Hund?")).toEqual(["wo", "wohnt", "der", "hund"]);
    expect(questionWords("東京")).toEqual(["東京"]);
    expect(questionWords("?!")).toEqual([]);
  });
});
