#pragma once

#include <string>
#include <vector>

namespace tilewave {

/// The candidate with the smallest edit distance to `name`, the first of equals; empty if none is
/// near enough to be meant (at most a third of the letters, but 2 for a short name).
std::string nearest(const std::string& name, const std::vector<std::string>& candidates);

/// For the `allowed` part of an InputError: "did you mean rows?", or all candidates if none is
/// near.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, const std::string& separator);

/// At most 40 characters of a text that a user wrote, on one line, for an error message.
std::string excerpt(const std::string& text);

/// The shortest decimal text that reads back as the same number, whatever the locale.
std::string number_text(double value);

}  // namespace tilewave
