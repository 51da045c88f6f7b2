# interplay from R, through reticulate: a data frame in, a data frame with gains, p-values and partners out.
#
#   install.packages("reticulate")
#   reticulate::py_install("interplay", pip = TRUE)    # or set RETICULATE_PYTHON to a Python that has it
#   Rscript from_r.R

library(reticulate)
# Results are converted below, as lists: older versions of reticulate cannot read the arrays of numpy 2.
interplay <- import("interplay", convert = FALSE)

as_data_frame <- function(table) {
  columns <- py_to_r(table$to_dict("list"))
  columns$partners <- vapply(columns$partners, function(names) paste(unlist(names), collapse = " "), "")
  as.data.frame(lapply(columns, unlist))
}

set.seed(2)
patients <- as.data.frame(matrix(rnorm(400 * 20), nrow = 400, dimnames = list(NULL, paste0("gene", 1:20))))
diseased <- xor(patients$gene3 > 0, patients$gene8 > 0)  # neither gene tells anything alone

# The L of 2L: whole numbers are integers in Python only if R knows them as such.
selection <- interplay$select(patients, diseased, dimensions = 2L, random_state = 1L)
found <- as_data_frame(selection$table)
print(found[found$relevant, c("variable", "gain", "p_adjusted", "partners")])
invisible(selection$save("patients.interplay"))  # load(…) reads it back, in R or in Python
invisible(selection$to_html("patients.html"))

# What R's MDFS calls ComputeMaxInfoGains(data, decision, dimensions, divisions, discretizations, seed):
gains <- interplay$max_information_gain(
  patients, diseased,
  dimensions = 2L, divisions = 1L, discretizations = 5L, random_state = 1L
)
cat("largest gain:", round(max(unlist(py_to_r(gains$gain$tolist()))), 1), "bits\n")
